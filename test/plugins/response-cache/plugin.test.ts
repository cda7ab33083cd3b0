/** The plugin itself: which options stop the start of the server, and how it connects the cache with the storage and the commits. */
import { describe, expect, it, vi } from 'vitest'
import { createModuleImport } from '../../../src/module'
import type { AutoApiPlugin } from '../../../src/runtime/server/define'
import { createServices } from '../../../src/runtime/server/core/extensions/services'
import type { PluginServer } from '../../../src/runtime/server/plugin/server'
import type { StorageDriver } from '../../../src/runtime/server/plugin/storage'
import { responseCache, type ResponseCacheOptions } from '../../../src/runtime/plugins'
import { openCache, respond, statusOf } from './open-cache'

const { createContext } = openCache()

async function open(options?: ResponseCacheOptions, driver?: StorageDriver) {
  const plugin: AutoApiPlugin = responseCache(options)
  const storage = vi.fn(() => driver)
  const resources = new Map([['posts', {}], ['tags', {}]])
  await plugin.setup!({ resources, storage, services: createServices(), runtimeConfig: () => ({}) } as unknown as PluginServer)
  const read = async (changes: object = {}) =>
    statusOf(await plugin.around!(createContext(changes), async () => respond(), { route: 'list' } as never))
  return { plugin, read, storage }
}
const [STORED, HIT] = ['auto-api; fwd=miss; stored', 'auto-api; hit']

describe('the start fails', () => {
  it.each<[ResponseCacheOptions, string]>([
    [{ resources: ['tags', 'post'] }, '`responseCache.resources` names `post`, which is not a registered resource. Did you mean `posts`?'],
    [{ reads: { posts: [], post: [] } }, '`responseCache.reads` names `post`, which is not a registered resource. Did you mean `posts`?'],
    [{ reads: { posts: ['posts', 'x'] } }, '`responseCache.reads.posts` names `x`, which is not a registered resource.'],
    [{ storage: 'nowhere' }, 'responseCache: Storage `nowhere` is not configured.'],
    [
      { storage: createModuleImport('/app/storage', 'redis') },
      '`responseCache.storage` is a module import, which only works in nuxt.config.',
    ],
  ])('with %j', async (options, message) => {
    await expect(open(options)).rejects.toThrow(`[auto-api] ${message}`)
  })
})

describe('the start succeeds', () => {
  it.each<ResponseCacheOptions | undefined>([
    undefined,
    {},
    { resources: [], reads: {} },
    { resources: ['posts'], reads: { posts: ['tags'], tags: [] } },
  ])('with %j', async (options) => {
    const { plugin, storage } = await open(options)
    expect(plugin.name).toBe('responseCache')
    expect(storage).not.toHaveBeenCalled()
  })
})

describe('the plugin', () => {
  it('stores responses until a commit changes what they were read from', async () => {
    const { plugin, read } = await open()
    expect([await read(), await read()]).toEqual([STORED, HIT])
    await plugin.onCommit!([{ resource: 'tags', table: 'tags', kind: 'update', id: '1' }], createContext())
    expect(await read()).toBe(HIT)
    await plugin.onCommit!([{ resource: 'posts', table: 'posts', kind: 'update', id: '1' }], createContext())
    expect(await read()).toBe(STORED)
  })

  it('stores the responses of the resources that an option names', async () => {
    const { read } = await open({ resources: ['tags'] })
    expect([await read(), await read({ resource: 'tags' }), await read({ resource: 'tags' })]).toEqual([undefined, STORED, HIT])
  })

  it('stores responses in the storage that an option names', async () => {
    const items = new Map<string, unknown>()
    const driver = {
      name: 'map',
      getItem: (key: string) => items.get(key),
      setItem: (key: string, value: unknown) => void items.set(key, value),
    }
    const { read, storage } = await open({ storage: 'responses' }, driver)
    expect([await read(), await read()]).toEqual([STORED, HIT])
    expect(storage).toHaveBeenCalledWith('responses')
    expect([...items.keys()].filter(key => key.startsWith('entry:'))).toHaveLength(1)
  })
})
