/** Servers of the cells in processes of their own, which can be killed and started again. */
import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { root } from '../../support/once'
import { toAnswer } from './in-process'
import type { Send } from './client'
import type { World } from './databases'

/** Bundles the server into one file in the repository, where it finds its packages. */
export async function bundleChild(): Promise<{ readonly file: string, readonly remove: () => void }> {
  const outDir = join(root, 'test/engines/histories/.output')
  const name = `child-${process.pid}.mjs`
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: join(root, 'test/engines/histories/child.ts'), outDir, emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: name, codeSplitting: false } },
    },
  })
  return { file: join(outDir, name), remove: () => rmSync(join(outDir, name), { force: true }) }
}

export interface Child {
  readonly send: Send
  /** Ends the process at once. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

export function createChild(file: string, { name, url }: World, log: boolean): Child {
  let process_: ChildProcess | undefined
  let port = 0
  let errors = ''
  return {
    async send(method, path, body, headers = {}) {
      try {
        return await toAnswer(await fetch(`http://127.0.0.1:${port}/api/${path}`, {
          method,
          headers: { ...body !== undefined && { 'content-type': 'application/json' }, ...headers },
          ...body !== undefined && { body: JSON.stringify(body) },
        }))
      }
      catch (error) {
        // A response that ends in the middle is none.
        if ((error as { cause?: { code?: string } }).cause?.code !== 'ECONNREFUSED') return undefined
        await new Promise(resolve => setTimeout(resolve, 20))
        return 'not sent'
      }
    },
    async kill() {
      const ended = new Promise(resolve => process_!.once('close', resolve))
      process_!.kill('SIGKILL')
      await ended
    },
    start: () => new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [file, name, url!, String(log)], { stdio: ['ignore', 'pipe', 'pipe'] })
      process_ = child
      child.stderr.on('data', chunk => errors += chunk)
      child.stdout.once('data', (chunk) => {
        port = Number(chunk)
        resolve()
      })
      child.once('close', (_, signal) => signal === 'SIGKILL' ? undefined : reject(new Error(`The server ended: ${errors}`)))
    }),
  }
}
