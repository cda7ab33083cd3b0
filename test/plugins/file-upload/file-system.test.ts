/** Files in a folder: links, permissions, races with other requests, and what a failed write leaves. */
import {
  existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync,
} from 'node:fs'
import fs, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fileSystemStorage } from '../../../src/runtime/plugins/file-upload/storage/file-system'
import type { FileStorage } from '../../../src/runtime/shared/file-storage'

const META = { type: 'text/plain' }
const KEY = 'posts/31/cover/a'

/** The files that the storage has open. */
const open = new Set<FileHandle>()
const openFile = fs.open
/** Opens files instead of Node. */
let intercept: typeof fs.open

let folder: string
let root: string
let storage: FileStorage
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'))
  root = join(folder, 'a/b')
  storage = fileSystemStorage({ base: root })
  intercept = openFile
  fs.open = async (...args) => {
    const file = await intercept(...args)
    const close = file.close.bind(file)
    open.add(file)
    file.close = async () => {
      open.delete(file)
      await close()
    }
    return file
  }
  syncBuiltinESMExports()
})
afterEach(() => {
  fs.open = openFile
  syncBuiltinESMExports()
  open.clear()
  rmSync(folder, { recursive: true, force: true })
})

async function* chunks(...parts: readonly (string | Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part
    yield Buffer.from(part as never)
  }
}

async function read(key: string, range?: { start: number, end: number }): Promise<string[] | undefined> {
  const found = await storage.get(key, range)
  if (!found) return undefined
  const all: string[] = []
  for await (const chunk of found) all.push(Buffer.from(chunk).toString())
  return all
}

async function keys(prefix?: string): Promise<string[]> {
  const all: string[] = []
  for await (const key of storage.list(prefix)) all.push(key)
  return all.sort()
}

const failure = (code: string) => Object.assign(new Error(code), { code })

describe('storing', () => {
  it('writes the chunks to a file that only the server can read', async () => {
    await storage.put(KEY, chunks('a', '', 'b'), META)
    expect(readFileSync(join(root, KEY), 'utf8')).toBe('ab')
    expect(statSync(join(root, KEY)).mode & 0o777).toBe(0o600)
    expect(open.size).toBe(0)
  })

  it('accepts a folder relative to the working directory', async () => {
    await fileSystemStorage({ base: relative(process.cwd(), root) }).put(KEY, chunks('a'), META)
    expect(await read(KEY)).toEqual(['a'])
  })

  it('writes the file to the disk before it resolves', async () => {
    const calls: string[] = []
    intercept = async (...args) => {
      const file = await openFile(...args)
      for (const name of ['datasync', 'close'] as const) {
        const run = file[name].bind(file)
        file[name] = () => run().then(() => void calls.push(name))
      }
      return file
    }
    await storage.put(KEY, chunks('a'), META)
    expect(calls).toEqual(['datasync', 'close'])
  })

  it('never changes a file that exists, or the target of a link', async () => {
    await storage.put(KEY, chunks('a'), META)
    await expect(storage.put(KEY, chunks('b'), META)).rejects.toThrow('EEXIST')
    expect(await read(KEY)).toEqual(['a'])
    writeFileSync(join(folder, 'secret'), 'secret')
    symlinkSync(join(folder, 'secret'), join(root, 'link'))
    await expect(storage.put('link', chunks('changed'), META)).rejects.toThrow('EEXIST')
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('secret')
  })

  it('leaves no file, no folder and no open file if the chunks fail', async () => {
    const error = new Error('The client left.')
    await expect(storage.put(KEY, chunks('a', error), META)).rejects.toBe(error)
    expect(existsSync(join(root, 'posts'))).toBe(false)
    expect(open.size).toBe(0)
  })

  it('throws the reason if the disk is full, whatever else fails then', async () => {
    intercept = async (...args) => {
      const file = await openFile(...args)
      const close = file.close.bind(file)
      file.datasync = () => Promise.reject(failure('ENOSPC'))
      file.close = async () => {
        await close()
        throw failure('EIO')
      }
      return file
    }
    await expect(storage.put(KEY, chunks('a'), META)).rejects.toThrow('ENOSPC')
    expect(existsSync(join(root, 'posts'))).toBe(false)
  })

  it('creates a folder again that another request removes, up to five times', async () => {
    let failures = 4
    const opened = vi.fn()
    intercept = async (...args) => {
      opened()
      if (failures-- > 0) throw failure('ENOENT')
      return openFile(...args)
    }
    await storage.put(KEY, chunks('a'), META)
    expect(await read(KEY)).toEqual(['a'])
    failures = 5
    opened.mockClear()
    await expect(storage.put('b', chunks('b'), META)).rejects.toThrow('ENOENT')
    expect(opened).toHaveBeenCalledTimes(5)
  })

  it('throws any other error at once', async () => {
    const opened = vi.fn(() => Promise.reject(failure('EACCES')))
    intercept = opened as never
    await expect(storage.put(KEY, chunks('a'), META)).rejects.toThrow('EACCES')
    expect(opened).toHaveBeenCalledOnce()
  })
})

describe('reading', () => {
  it('returns a file in chunks of at most 64 kB', async () => {
    const bytes = 'x'.repeat(65_536 * 2 + 10)
    await storage.put(KEY, chunks(bytes), META)
    expect((await read(KEY))!.map(({ length }) => length)).toEqual([65_536, 65_536, 10])
    expect((await read(KEY, { start: 10, end: 65_546 }))!.map(({ length }) => length)).toEqual([65_536, 1])
    expect(open.size).toBe(0)
  })

  it('returns ranges, whose ends are part of them', async () => {
    await storage.put(KEY, chunks('0123456789'), META)
    for (const [start, end, text] of [[0, 0, '0'], [0, 9, '0123456789'], [3, 5, '345'], [9, 9, '9'], [8, 20, '89']] as const)
      expect(await read(KEY, { start, end })).toEqual([text])
    expect(await read(KEY, { start: 10, end: 12 })).toEqual([])
  })

  it('returns nothing for an empty file, and ends if a file becomes shorter', async () => {
    await storage.put('empty', chunks(), META)
    expect(await read('empty')).toEqual([])
    await storage.put(KEY, chunks('x'.repeat(100_000)), META)
    const found = (await storage.get(KEY))![Symbol.asyncIterator]()
    expect((await found.next()).value.byteLength).toBe(65_536)
    truncateSync(join(root, KEY), 65_536)
    expect((await found.next()).done).toBe(true)
    expect(open.size).toBe(0)
  })

  it('opens a file before its first bytes are read, and closes it when the reader stops', async () => {
    await storage.put(KEY, chunks('x'.repeat(100_000)), META)
    const found = (await storage.get(KEY))![Symbol.asyncIterator]()
    await storage.delete(KEY)
    expect((await found.next()).value).toHaveLength(65_536)
    expect(open.size).toBe(1)
    await found.return!()
    expect(open.size).toBe(0)
  })

  it('finds no file under the key of a folder, below a file, or in a folder that does not exist', async () => {
    expect(await read(KEY)).toBeUndefined()
    await storage.put(KEY, chunks('a'), META)
    for (const key of ['posts', 'posts/31/cover', `${KEY}/b`, 'posts/31/cover/b']) expect(await read(key)).toBeUndefined()
  })

  it('throws any other error', async () => {
    mkdirSync(root, { recursive: true })
    symlinkSync(join(root, 'loop'), join(root, 'loop'))
    await expect(storage.get('loop')).rejects.toThrow('ELOOP')
    await expect(keys('loop/')).rejects.toThrow('ELOOP')
    await expect(storage.delete('loop/a')).rejects.toThrow('ELOOP')
  })
})

describe('removing', () => {
  it('removes folders that become empty, and never the folder of the storage', async () => {
    for (const key of [KEY, 'posts/32/cover/a', 'users/1/photo/a']) await storage.put(key, chunks('a'), META)
    await storage.delete(KEY)
    expect(readdirSync(join(root, 'posts'))).toEqual(['32'])
    await storage.delete('posts/32/cover/a')
    expect(readdirSync(root)).toEqual(['users'])
    await storage.delete('users/1/photo/a')
    expect(readdirSync(root)).toEqual([])
    await storage.put('a', chunks('a'), META)
    await storage.delete('a')
    expect(readdirSync(root)).toEqual([])
  })

  it('does nothing if there is no file', async () => {
    await storage.delete(KEY)
    await storage.put(KEY, chunks('a'), META)
    for (const key of [`${KEY}/b`, 'posts/31/cover/b', 'users/1/photo/a']) await storage.delete(key)
    expect(await read(KEY)).toEqual(['a'])
  })

  it('removes no folder that is not empty', async () => {
    await storage.put(KEY, chunks('a'), META)
    await expect(storage.delete('posts/31')).rejects.toThrow(/EISDIR|EPERM/)
    expect(await read(KEY)).toEqual(['a'])
  })
})

describe('listing', () => {
  it('returns files with the prefix, and no links', async () => {
    expect(await keys()).toEqual([])
    for (const key of [KEY, 'posts/3/cover/a', 'users/1/photo/a', 'b']) await storage.put(key, chunks('a'), META)
    symlinkSync(join(root, KEY), join(root, 'link'))
    symlinkSync(folder, join(root, 'posts/link'))
    expect(await keys()).toEqual(['b', 'posts/3/cover/a', KEY, 'users/1/photo/a'])
    expect(await keys('posts/')).toEqual(['posts/3/cover/a', KEY])
    expect(await keys('posts/31/')).toEqual([KEY])
    for (const prefix of ['posts/4/', 'b/', 'b/c/']) expect(await keys(prefix)).toEqual([])
  })
})

it('refuses keys and prefixes that could leave the folder', async () => {
  for (const key of ['../a', 'a/../../b', '/etc/passwd', 'a/', '']) {
    await expect(storage.put(key, chunks('a'), META)).rejects.toThrow(TypeError)
    await expect(storage.get(key)).rejects.toThrow(TypeError)
    await expect(storage.delete(key)).rejects.toThrow(TypeError)
  }
  for (const prefix of ['../', 'a', '/']) await expect(keys(prefix)).rejects.toThrow(TypeError)
  expect(readdirSync(folder)).toEqual([])
})
