/** The parts of the plugin: what it declares while the app is built, its routes, its task, and what it tells other plugins and clients. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createServices } from '../../../src/runtime/server/core/extensions/services'
import type { PluginRoute } from '../../../src/runtime/server/plugin/contract'
import { readAdmin, type AdminOffer } from '../../../src/runtime/server/plugin/features'
import type { PluginServer } from '../../../src/runtime/server/plugin/server'
import { fileUpload, openApi } from '../../../src/runtime/plugins/index'
import { EDITOR, READER, openWorld, type World } from './world'

const cover = { accept: ['image/png', 'image/jpeg'], maxSize: 100 }
const resources = { posts: { cover, files: { accept: ['text/plain'], multiple: true } } }

function createStorage() {
  return {
    put: vi.fn(), get: vi.fn(), delete: vi.fn(async () => {}), removeUnfinished: vi.fn(),
    list: vi.fn(async function* () {
      yield 'posts/31/cover/01936f00-0000-7000-8000-000000000000'
    }),
  }
}

describe('while the app is built', () => {
  it('protects its columns', () => {
    const protect = vi.fn()
    void fileUpload({ resources }).resources!({ protect } as never)
    expect(protect.mock.calls).toEqual([['posts', ['cover']], ['posts', ['files']]])
  })

  const setup = (storage: unknown, runtimeConfig: object = {}) => {
    const nuxt = { options: { runtimeConfig } }
    void fileUpload({ resources, storage: storage as never }).buildSetup!(nuxt as never)
    return nuxt.options.runtimeConfig
  }
  const S3 = { type: 's3', bucket: 'x', region: 'x' }
  const NONE = { accessKeyId: '', secretAccessKey: '', sessionToken: '' }

  it('declares the keys of S3, so that the environment can set them', () => {
    expect(setup(S3)).toEqual({ autoApi: { s3: NONE } })
    expect(setup(S3, { a: 1, autoApi: { secret: 'x' } })).toEqual({ a: 1, autoApi: { secret: 'x', s3: NONE } })
    expect(setup(S3, { autoApi: { s3: { accessKeyId: 'own' } } })).toEqual({ autoApi: { s3: { ...NONE, accessKeyId: 'own' } } })
  })

  it('declares nothing for another storage', () => {
    for (const storage of [undefined, 'uploads', { type: 'fs' }, { type: 'r2', binding: 'X' }, createStorage(), () => createStorage()])
      expect(setup(storage)).toEqual({})
  })
})

describe('on the server', () => {
  const field = { kind: 'json', column: {}, nullable: true, writable: false }
  const createPluginServer = () => ({
    resources: new Map([['posts', { primaryKey: ['id'], deletedAt: undefined, fields: new Map([['cover', field], ['files', field]]) }]]),
    readStored: vi.fn(async () => []),
    services: createServices(),
  } as unknown as PluginServer)

  it('reports to the admin which files exist', async () => {
    const server = createPluginServer()
    await fileUpload({ resources, storage: createStorage() }).setup!(server)
    const [{ features }] = readAdmin(server) as [AdminOffer]
    const found = features!({} as never, { name: 'posts' } as never, { fields: { cover: { readable: true }, files: { readable: true } } } as never)
    expect(found).toMatchObject({
      files: {
        cover: { accept: ['image/png', 'image/jpeg'], maxSize: 100, multiple: false },
        files: { accept: ['text/plain'], multiple: true },
      },
    })
  })

  it('does not start if a column is missing, or if the import of its storage is not replaced', async () => {
    const start = (options: Parameters<typeof fileUpload>[0]) => (async () => fileUpload(options).setup!(createPluginServer()))()
    await expect(start({ resources: { posts: { photo: cover } } })).rejects.toThrow('`posts.photo` is not a column')
    await expect(start({ resources, storage: { __moduleImport: true, path: 'x',
      name: 'files' } as never })).rejects.toThrow('`fileUpload.storage` is a module import')
  })

  it('removes files after commits, and once a day those that no record names', async () => {
    const storage = createStorage()
    const find = vi.fn(() => storage)
    const plugin = fileUpload({ resources, storage: find })
    const server = createPluginServer()
    await plugin.setup!(server)
    const event = {}
    await plugin.onCommit!([{ resource: 'posts', table: 'posts', kind: 'delete', id: '1' }], { event } as never)
    expect(storage.delete).toHaveBeenCalledExactlyOnceWith('posts/31/cover/01936f00-0000-7000-8000-000000000000')
    expect(find).toHaveBeenLastCalledWith(event)
    storage.delete.mockClear()
    const { every, run } = plugin.tasks!.orphans!
    expect(every).toBe(24 * 60)
    const due = new Date('2026-11-22')
    expect(await run({ due, event } as never)).toBeUndefined()
    expect(storage.delete).toHaveBeenCalledOnce()
    expect(storage.removeUnfinished).toHaveBeenCalledExactlyOnceWith(new Date('2026-11-21'))
    expect(find).toHaveBeenLastCalledWith(event)
  })
})

describe('the routes', () => {
  const { routes } = fileUpload({ resources })
  const find = (name: string) => (routes as readonly PluginRoute[]).find(route => route.name === name)!
  const describeRoute = (name: string) => {
    const { describe } = find(name)
    return (typeof describe === 'function' ? describe({ record: { $ref: '#/post' } } as never) : describe)!
  }

  it('are five for each field', () => {
    const all = (routes as readonly PluginRoute[]).filter(({ path }) => path.includes('cover'))
    expect(all.map(({ method, path, resources, operation }) => [method, path, resources, operation])).toEqual([
      ['POST', '/:resource/:id/upload/cover', ['posts'], 'update'], ['GET', '/:resource/:id/files/cover', ['posts'], 'read'],
      ['GET', '/:resource/:id/files/cover/:key', ['posts'], 'read'], ['DELETE', '/:resource/:id/files/cover', ['posts'], 'update'],
      ['DELETE', '/:resource/:id/files/cover/:key', ['posts'], 'update'],
    ])
    expect(routes).toHaveLength(10)
  })

  it('accept forms, and files of the accepted types', () => {
    expect(find('upload posts.cover').accepts).toEqual(['multipart/form-data', 'image/png', 'image/jpeg', 'image/jpg', 'image/pjpeg',
      'application/octet-stream'])
    expect(find('upload posts.files').accepts).toEqual(['multipart/form-data', 'text/plain', 'application/octet-stream'])
  })

  it('are described for OpenAPI', () => {
    const header = (name: string) => ({ [name]: { description: expect.stringMatching(/\.$/) } })
    const description = expect.stringMatching(/\.$/)
    expect(describeRoute('upload posts.cover')).toEqual({
      operationId: 'posts.cover.upload', summary: 'Upload a file: cover', description: expect.stringContaining('at most 100 bytes'),
      query: { name: { description } }, headers: header('If-Match'), responses: { 200: { schema: { $ref: '#/post' } } },
      errors: { IMAGE_TOO_LARGE: 400, PAYLOAD_TOO_LARGE: 413, UNSUPPORTED_MEDIA_TYPE: 415, PRECONDITION_REQUIRED: 428 },
    })
    const types = ['image/png', 'image/jpeg', 'application/octet-stream']
    expect(describeRoute('file posts.cover')).toEqual({
      operationId: 'posts.cover.get', summary: 'Get a file: cover', query: { download: { description, schema: { type: 'boolean' } } },
      headers: { ...header('Range'), ...header('If-None-Match') },
      responses: { 200: { description, types }, 206: { description, types }, 304: { description } }, errors: { RANGE_NOT_SATISFIABLE: 416 },
    })
    expect(describeRoute('remove posts.cover')).toEqual({
      operationId: 'posts.cover.remove', summary: 'Remove a file: cover', headers: header('If-Match'),
      responses: { 200: { schema: { $ref: '#/post' } } },
      errors: { PRECONDITION_REQUIRED: 428 },
    })
    expect(describeRoute('file posts.cover/:key').operationId).toBe('posts.cover.get-by-key')
    expect(describeRoute('remove posts.cover/:key').operationId).toBe('posts.cover.remove-by-key')
  })
})

describe('the OpenAPI document', () => {
  let world: World
  afterEach(() => world.close())

  it('contains the routes that the caller can use', async () => {
    world = await openWorld({ plugins: [openApi({ access: true })] })
    const routesFor = async (caller: typeof EDITOR) => {
      const { paths } = (await world.send(caller, 'GET', '/_openapi.json')).body as { paths: Record<string, object> }
      return Object.entries(paths).filter(([path]) => /upload|\/files\/|\/scan/.test(path)).flatMap(([path, methods]) =>
        Object.keys(methods).filter(method => method !== 'parameters').map(method => `${method} ${path}`)).sort()
    }
    const reads = ['cover', 'files'].flatMap(field => [`get /api/posts/{id}/files/${field}`, `get /api/posts/{id}/files/${field}/{key}`])
    const scans = ['get /api/notes/{id}/files/scan', 'get /api/notes/{id}/files/scan/{key}']
    expect(await routesFor(READER)).toEqual([...scans, ...reads].sort())
    const writes = ['posts/{id}|cover', 'posts/{id}|files', 'notes/{id}|scan'].flatMap((route) => {
      const [record, field] = route.split('|')
      return [`post /api/${record}/upload/${field}`, `delete /api/${record}/files/${field}`, `delete /api/${record}/files/${field}/{key}`]
    })
    expect(await routesFor(EDITOR)).toEqual([...scans, ...reads, ...writes].sort())
  }, 60_000)
})
