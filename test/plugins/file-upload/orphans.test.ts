/** Which files a purge and the daily task remove, and which they keep, whatever the storage and the database do. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Change } from '../../../src/runtime/server/core/extensions/changes'
import { removeOrphans, removePurged } from '../../../src/runtime/plugins/file-upload/server/lifecycle'
import type { FileField } from '../../../src/runtime/plugins/file-upload/options'
import { createService } from '../../../src/runtime/plugins/file-upload/server/service'
import type { PluginServer } from '../../../src/runtime/server/plugin/server'

const DAY = 24 * 60 * 60 * 1000
const NOW = 2 * DAY * 1000
const FIELDS = [['posts', 'cover'], ['posts', 'files'],
  ['notes', 'scan']].map(([resource, field]) => ({ resource, field, multiple: false }) as FileField)

let time = 0
/** The key of a file that was uploaded at a time. */
const keyAt = (at: number, number = ++time) => {
  const hex = at.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`
}
const file = (key: string) => ({ key, name: 'a', type: 'image/png', size: 1, sha256: 'x' })
const hex = (id: string) => Buffer.from(id).toString('hex')

let stored: Set<string>
let log: ReturnType<typeof vi.spyOn>
const EVENT = {}
const storage = {
  put: vi.fn(), get: vi.fn(),
  delete: vi.fn(async (path: string) => void stored.delete(path)),
  list: vi.fn(async function* (prefix = '') {
    for (const path of [...stored]) if (path.startsWith(prefix)) yield path
  }),
}
const find = vi.fn((_event?: object) => storage)
beforeEach(() => {
  stored = new Set()
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.clearAllMocks()
})

function store(resource: string, id: string, field: string, key = keyAt(1)): string {
  const path = `${resource}/${hex(id)}/${field}/${key}`
  stored.add(path)
  return path
}

describe('a commit', () => {
  const resources = new Map([['posts', { deletedAt: 'deletedAt' }], ['notes', {}]])
  const commit = (...changes: readonly Partial<Change>[]) => removePurged(FIELDS, changes as Change[],
    { resources } as unknown as PluginServer, find, EVENT)

  it.each<[string, Partial<Change>]>([
    ['a purge', { resource: 'posts', kind: 'purge' }], ['a purge of a resource without trash', { resource: 'notes', kind: 'purge' }],
    ['a delete without trash', { resource: 'notes', kind: 'delete' }],
  ])('removes the files of a record with %s', async (_case, change) => {
    store(change.resource!, '1', 'cover')
    store(change.resource!, '1', 'other')
    const others = [store(change.resource!, '12', 'cover'), store('users', '1', 'cover')]
    await commit({ ...change, id: '1' })
    expect([...stored]).toEqual(others)
    expect(find).toHaveBeenCalledWith(EVENT)
  })

  it.each<[string, Partial<Change>]>([
    ['a delete with trash', { resource: 'posts', kind: 'delete' }], ['an update', { resource: 'posts', kind: 'update' }],
    ['a create', { resource: 'notes', kind: 'create' }],
    ['a restore', { resource: 'posts', kind: 'restore' }], ['a resource without file columns', { resource: 'users', kind: 'purge' }],
    ['a table without a resource', { kind: 'purge' }],
  ])('keeps the files with %s', async (_case, change) => {
    const path = store(change.resource ?? 'undefined', '1', 'cover')
    await commit({ ...change, id: '1' })
    expect([...stored]).toEqual([path])
    expect(storage.list).not.toHaveBeenCalled()
  })

  it('keeps the files of a later record with the same id, and what is no file', async () => {
    const kept = [store('posts', '1', 'cover', keyAt(NOW + 1)), store('posts', '1', 'cover', 'other')]
    store('posts', '1', 'cover', keyAt(NOW))
    await commit({ resource: 'posts', kind: 'purge', id: '1' })
    expect([...stored]).toEqual(kept)
  })

  it('removes nothing for an id that is too long to have files', async () => {
    await commit({ resource: 'posts', kind: 'purge', id: 'x'.repeat(121) })
    expect(storage.list).not.toHaveBeenCalled()
  })

  it('clears eight records at once', async () => {
    let running = 0
    let most = 0
    storage.list.mockImplementation(async function* () {
      most = Math.max(most, ++running)
      yield 'no file'
      await new Promise(resolve => setImmediate(resolve))
      running--
    })
    await commit(...Array.from({ length: 20 }, (_, id) => ({ resource: 'posts', kind: 'purge' as const, id: String(id) })))
    expect([most, storage.list.mock.calls.length]).toEqual([8, 20])
    storage.list.mockImplementation(async function* (prefix = '') {
      for (const path of [...stored]) if (path.startsWith(prefix)) yield path
    })
  })

  it('goes on if the storage fails, and logs it', async () => {
    const failure = new Error('down')
    store('posts', '1', 'cover')
    const path = store('posts', '1', 'files')
    storage.delete.mockRejectedValueOnce(failure)
    await commit({ resource: 'posts', kind: 'purge', id: '1' })
    expect(stored.has(path)).toBe(false)
    expect(log).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/ fileUpload: posts\/31\/cover\/.* was not removed from the storage\. The daily task tries again\.$/),
      failure,
    )
    log.mockClear()
    find.mockImplementationOnce(() => {
      throw failure
    })
    await commit({ resource: 'posts', kind: 'purge', id: '1' }, { resource: 'posts', kind: 'purge', id: '2' })
    expect(log).toHaveBeenCalledExactlyOnceWith(
      '[auto-api] fileUpload: the files below posts/31/ were not removed. The daily task tries again.', failure,
    )
  })
})

describe('the daily task', () => {
  /** The stored texts of records, by `resource/id`. */
  let rows: Record<string, Record<string, string>>
  const readStored = vi.fn(async (resource: string, ids: readonly string[], columns: readonly string[], _event?: unknown) =>
    ids.filter(id => rows[`${resource}/${id}`]).map(id => ({ id,
      texts: Object.fromEntries(columns.map(column => [column, rows[`${resource}/${id}`]![column] ?? null])) })))
  const run = (own: object = {}) => removeOrphans(FIELDS, { readStored } as unknown as PluginServer,
    event => ({ ...find(event), ...own }) as never, NOW, EVENT)
  beforeEach(() => {
    rows = {}
  })

  it('removes the files that no record names, and returns their number', async () => {
    const kept = [keyAt(1), keyAt(1), keyAt(1)]
    rows = {
      'posts/1': { cover: JSON.stringify(file(kept[0]!)), files: JSON.stringify([file(kept[1]!)]) },
      'notes/1': { scan: JSON.stringify(file(kept[2]!)) },
      'posts/2': { cover: 'null' },
    }
    const paths = [store('posts', '1', 'cover', kept[0]), store('posts', '1', 'files', kept[1]), store('notes', '1', 'scan', kept[2])]
    store('posts', '1', 'cover')
    store('posts', '2', 'cover')
    store('notes', '9', 'scan')
    expect(await run()).toBe(3)
    expect([...stored]).toEqual(paths)
    expect(readStored.mock.calls).toEqual([['posts', ['1', '2'], ['cover', 'files'], EVENT], ['notes', ['1', '9'], ['scan'], EVENT]])
    expect(find).toHaveBeenCalledWith(EVENT)
  })

  it('keeps files of the last day, and what it does not know', async () => {
    const kept = [
      store('posts', '1', 'cover', keyAt(NOW - DAY + 1)), store('posts', '1', 'scan'), store('notes', '1', 'cover'),
      store('users', '1', 'cover'), store('posts', '1', 'other'),
      'a', `posts/31/cover/${keyAt(1)}/x`,
    ]
    for (const path of kept) stored.add(path)
    store('posts', '1', 'cover', keyAt(NOW - DAY))
    expect(await run()).toBe(1)
    expect([...stored]).toEqual(kept)
  })

  it.each([[0, []], [1, [1]], [100, [100]], [101, [100, 1]], [250, [100, 100, 50]]])('checks %i files with a statement for each hundred',
    async (count, batches) => {
      for (let index = 0; index < count; index++) store('posts', String(index), 'cover')
      expect(await run()).toBe(count)
      expect(readStored.mock.calls.map(([, ids]) => ids.length)).toEqual(batches)
      expect(stored.size).toBe(0)
    })

  it('ends with the error of the storage, so that it is logged', async () => {
    store('posts', '1', 'cover')
    storage.delete.mockRejectedValueOnce(new Error('down'))
    await expect(run()).rejects.toThrow('down')
  })

  it('removes unfinished uploads of the day before, if the storage has any', async () => {
    const removeUnfinished = vi.fn()
    await run({ removeUnfinished })
    expect(removeUnfinished).toHaveBeenCalledExactlyOnceWith(new Date(NOW - DAY))
    expect(await run()).toBe(0)
  })
})

describe('the functions of the routes', () => {
  const fields = new Map([['cover', { kind: 'json' }], ['files', { kind: 'text' }]])
  const posts = { fields, canonicalId: (id: string) => /^\d+$/.test(id) ? String(Number(id)) : id.startsWith('x') ? id : undefined }
  const server = { resources: new Map([['posts', posts]]), authorizeUpdate: vi.fn(), get: vi.fn() }
  const service = createService(server as unknown as PluginServer, find)

  it('know the path of a file, by the id as the API returns it', () => {
    expect(service.pathOf(FIELDS[0]!, '0012', 'key')).toBe('posts/3132/cover/key')
    expect(() => service.pathOf(FIELDS[0]!, 'a', 'key')).toThrow(expect.objectContaining({ status: 404 }))
    expect(() => service.pathOf(FIELDS[0]!, 'x'.repeat(121),
      'key')).toThrow(expect.objectContaining({ status: 400, message: expect.stringContaining('too long for a record with files') }))
  })

  it('write JSON as text to a text column', () => {
    const value = file('a')
    expect([service.toColumn(FIELDS[0]!, value), service.toColumn(FIELDS[0]!, [value]),
      service.toColumn(FIELDS[0]!, null)]).toEqual([value, [value], null])
    expect([service.toColumn(FIELDS[1]!, value), service.toColumn(FIELDS[1]!, [value]),
      service.toColumn(FIELDS[1]!, null)]).toEqual([JSON.stringify(value), JSON.stringify([value]), null])
  })

  it('remove the files that a record does not name any more', async () => {
    const ctx = { event: EVENT, params: { id: '1' } }
    await service.removeUnnamed(FIELDS[0]!, ctx, ['a', 'b', 'c'].map(key => ({ key })), [{ key: 'b' }, { key: 'd' }])
    expect(storage.delete.mock.calls).toEqual([['posts/31/cover/a'], ['posts/31/cover/c']])
    expect(find).toHaveBeenCalledWith(EVENT)
  })

  it('are those of the server', () => expect([service.authorizeUpdate, service.get, service.storage]).toEqual([server.authorizeUpdate,
    server.get, find]))
})
