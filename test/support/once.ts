/** Makes something expensive once for the files it is made of: all test files, workers and runs share the result. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Calls `make` unless `folder` already holds its result for this key. Another worker that makes the same is waited for.
 * @param folder what `make` creates or replaces; the key is kept in it
 */
export async function makeOnce(folder: string, key: string, make: () => Promise<void> | void): Promise<void> {
  const stamp = join(folder, '.made-from')
  const unlock = await lock(`${folder.replace(/\/$/, '')}.lock`)
  try {
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === key) return
    await make()
    writeFileSync(stamp, key)
  }
  finally {
    unlock()
  }
}

async function lock(folder: string): Promise<() => void> {
  const owner = join(folder, 'pid')
  mkdirSync(dirname(folder), { recursive: true })
  for (;;) {
    try {
      mkdirSync(folder)
      writeFileSync(owner, String(process.pid))
      return () => rmSync(folder, { recursive: true, force: true })
    }
    catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    // A run that was killed leaves its lock.
    const pid = readIfPresent(owner)
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(folder, { recursive: true, force: true })
    await setTimeout(100)
  }
}

/** The file can disappear at any time, because its owner removes it. */
function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  }
  catch {
    return undefined
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  }
  catch {
    return false
  }
}

const GENERATED = new Set(['.git', 'node_modules', '.nuxt', '.output', '.data', 'dist'])

/** A hash of files, and of every file in folders, by path and content. @param paths relative to the repository */
export function hashOf(paths: readonly string[], ...more: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([process.version, ...more]))
  for (const path of paths.map(path => join(root, path))) {
    const files = statSync(path).isFile()
      ? [path]
      : globSync('**/*', { cwd: path, exclude: name => GENERATED.has(name) }).map(file => join(path, file))
    for (const file of files.sort()) if (statSync(file).isFile()) hash.update(relative(root, file)).update(readFileSync(file))
  }
  return hash.digest('hex')
}
