/** Stores files in a folder. It reads and writes them in chunks, so a file of any size needs little memory. */
import type { FileHandle } from 'node:fs/promises'
import { assertKey, assertPrefix, type FileStorage } from '../../../shared/file-storage'

export interface FileSystemOptions {
  /**
   * The folder, relative to the working directory of the server.
   * @default '.data/uploads'
   */
  readonly base?: string
}

const CHUNK = 64 * 1024

/** A folder that another request removes while it is empty is created again. */
const ATTEMPTS = 5

/**
 * Creates a storage in a folder of the server.
 * @example
 * export const files = fileSystemStorage({ base: '/var/lib/newsroom/files' })
 */
export function fileSystemStorage({ base = '.data/uploads' }: FileSystemOptions = {}): FileStorage {
  // Loaded on first use, because some runtimes have no file system.
  const load = once(async () => {
    const [fs, path] = await Promise.all([import('node:fs/promises'), import('node:path')])
    return { fs, path, root: path.resolve(base) }
  })

  async function create(key: string): Promise<FileHandle> {
    const { fs, path, root } = await load()
    const file = path.join(root, key)
    for (let attempt = 1; ; attempt++) {
      await fs.mkdir(path.dirname(file), { recursive: true })
      try {
        // `wx` fails if the file exists, also as a symbolic link.
        return await fs.open(file, 'wx', 0o600)
      }
      catch (error) {
        if (!isMissing(error) || attempt === ATTEMPTS) throw error
      }
    }
  }

  async function remove(key: string): Promise<void> {
    const { fs, path, root } = await load()
    const file = path.join(root, key)
    await fs.unlink(file).catch(ignoreMissing)
    try {
      for (let folder = path.dirname(file); folder !== root; folder = path.dirname(folder)) await fs.rmdir(folder)
    }
    catch {
      // A folder that is not empty stays, and so do those above it.
    }
  }

  return {
    async put(key, chunks) {
      assertKey(key)
      const file = await create(key)
      try {
        for await (const chunk of chunks) await file.writeFile(chunk)
        // The row that names the file is committed next. Without this, the row could survive a power failure, and the file could not.
        await file.datasync()
        await file.close()
      }
      catch (error) {
        await file.close().catch(() => {})
        await remove(key)
        throw error
      }
    },
    async get(key, range) {
      assertKey(key)
      const { fs, path, root } = await load()
      // An open file can be read to its end, also if it is removed meanwhile.
      const file = await fs.open(path.join(root, key), 'r').catch(ignoreMissing)
      if (!file) return undefined
      if ((await file.stat()).isFile()) return readRange(file, range?.start ?? 0, range?.end ?? Infinity)
      await file.close()
      return undefined
    },
    async delete(key) {
      assertKey(key)
      await remove(key)
    },
    async* list(prefix = '') {
      assertPrefix(prefix)
      const { fs, path, root } = await load()
      yield* walk(fs, path.join(root, prefix), prefix)
    },
  }
}

async function* readRange(file: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  try {
    for (let at = start; at <= end;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(Math.min(CHUNK, end - at + 1)), 0, undefined, at)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
    }
  }
  finally {
    await file.close()
  }
}

async function* walk(fs: typeof import('node:fs/promises'), folder: string, prefix: string): AsyncGenerator<string> {
  const entries = await fs.opendir(folder).catch(ignoreMissing)
  if (!entries) return
  for await (const entry of entries) {
    if (entry.isDirectory()) yield* walk(fs, `${folder}/${entry.name}`, `${prefix}${entry.name}/`)
    else if (entry.isFile()) yield prefix + entry.name
  }
}

const isMissing = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes(String((error as { code?: unknown }).code))

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => result ??= run()
}
