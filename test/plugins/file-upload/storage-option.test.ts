/** The option `storage`: which values the build accepts, and which storage a request gets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { assertStorageOption, resolveStorage, type StorageOption } from '../../../src/runtime/plugins/file-upload/storage/resolve'
import type { PluginServer } from '../../../src/runtime/server/plugin/server'

afterEach(() => vi.unstubAllGlobals())

const OWN = { put: async () => {}, get: async () => undefined, delete: async () => {}, async* list() {} }
const S3 = { type: 's3', bucket: 'files', region: 'x' }

describe('the option', () => {
  it.each<[string, unknown]>([
    ['absent', undefined], ['the name of a mount', 'uploads'], ['a function', () => OWN], ['a storage', OWN],
    ['a storage that has a type', { ...OWN, type: 'azure' }], ['the import of a storage', { __moduleImport: 'x' }],
    ['a folder', { type: 'fs', base: 'x' }], ['the default folder', { type: 'fs' }],
    ['a folder without a value', { type: 'fs', base: undefined }], ['a bucket of S3', S3],
    ['another service', { ...S3, endpoint: 'https://s3.test', prefix: 'app/' }],
    ['a prefix of several segments', { ...S3, prefix: 'a-b/c_d/' }],
    ['a bucket of R2', { type: 'r2', binding: 'FILES' }],
  ])('can be %s', (_case, option) => expect(() => assertStorageOption(option)).not.toThrow())

  it.each<[unknown, string]>([
    ['', 'is "".'], [null, 'is null.'], [1, 'is 1.'], [true, 'is true.'], [{}, 'has the type undefined.'],
    [{ type: 'azure' }, 'has the type "azure".'],
    [{ type: 'fs3' }, 'has the type "fs3". Did you mean `fs`?'], [{ type: 'constructor' }, 'has the type "constructor".'],
    [{ type: ['fs'] }, 'has the type a list. Did you mean `fs`?'],
    [{ ...OWN, list: undefined }, 'has the type undefined.'],
    [{ put: OWN.put, get: OWN.get, delete: OWN.delete }, 'has the type undefined.'],
    [{ type: 'fs', bas: 'x' }, 'has `bas`, which is not an option of `fs`. Did you mean `base`?'],
    [{ type: 'fs', toString: 'x' }, 'has `toString`, which is not an option of `fs`.'],
    [{ type: 'fs', base: 1 }, 'has `base`, which is not a string.'], [{ type: 'fs', base: '' }, 'has `base`, which is not a string.'],
    [{ type: 'fs', base: null }, 'has `base`, which is not a string.'],
    [{ type: 's3', bucket: 'x' }, 'has no `region`, which `s3` requires.'],
    [{ type: 's3', region: 'x' }, 'has no `bucket`, which `s3` requires.'],
    [{ ...S3, region: undefined }, 'has no `region`, which `s3` requires.'], [{ type: 'r2' }, 'has no `binding`, which `r2` requires.'],
    [{ ...S3, endpoint: 's3.test' }, 'has an `endpoint` that is not a URL.'],
    ...['app', '/', 'a/b', '/app/', 'a//', '../', 'a b/', ' app/', 'app/ '].map(prefix =>
      [
        { ...S3, prefix }, 'has a `prefix` that is not made of segments of letters, digits, `-` and `_`, each with `/` at its end.',
      ] as [unknown, string]),
  ])('cannot be %o', (option, problem) => {
    const message = `[auto-api] \`fileUpload.storage\` ${problem} Use the name of a storage in \`nitro.storage\`, `
      + 'data such as `{ type: \'fs\', base: \'…\' }`, or `createModuleImport(path, name)` of a storage.'
    expect(() => assertStorageOption(option)).toThrow(new TypeError(message))
    expect(() => resolveStorage(option as StorageOption, {} as PluginServer)).toThrow(new TypeError(message))
  })
})

const stored = async (storage: { readonly list: () => AsyncIterable<string> }): Promise<string[]> => {
  const keys: string[] = []
  for await (const key of storage.list()) keys.push(key)
  return keys
}

describe('a request', () => {
  const resolve = (option: StorageOption | undefined, server: object = {}) => resolveStorage(option, server as PluginServer)
  async function* content() {
    yield Buffer.from('a')
  }

  it('gets the storage or the function itself', () => {
    for (const own of [OWN, { ...OWN, type: 'azure' }]) expect(resolve(own)()).toBe(own)
    const find = () => OWN
    expect(resolve(find)).toBe(find)
  })

  it('gets a folder, by default `.data/uploads`', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'files-'))
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder)
    await resolve(undefined)().put('a', content(), { type: 'x' })
    await resolve({ type: 'fs' })().put('b', content(), { type: 'x' })
    await resolve({ type: 'fs', base: '.data/others' })().put('c', content(), { type: 'x' })
    cwd.mockRestore()
    expect((await stored(resolve({ type: 'fs', base: join(folder, '.data/uploads') })())).sort()).toEqual(['a', 'b'])
    expect(await stored(resolve({ type: 'fs', base: join(folder, '.data/others') })())).toEqual(['c'])
    rmSync(folder, { recursive: true })
  })

  it('gets the mount of Nitro, which must exist when the server starts', async () => {
    const driver = { setItem: () => {}, getItem: () => null, removeItem: () => {}, getKeys: () => ['posts:31:cover:a'] }
    const storage = vi.fn((name: string) => name === 'uploads' ? driver : undefined)
    expect(await stored(resolve('uploads', { storage })())).toEqual(['posts/31/cover/a'])
    expect(() => resolve('upload', { storage })).toThrow(new Error(
      '[auto-api] fileUpload: Storage `upload` is not configured. Add it to `nitro.storage` in nuxt.config, such as '
      + '`upload: { driver: \'fs\', base: \'./.data/upload\' }`.',
    ))
    expect(() => resolve('uploads', { storage: () => ({}) })).toThrow('cannot store files')
  })

  it('gets the bucket of S3 with the keys of its event', async () => {
    const sent = vi.fn(async (_url: URL, _init: RequestInit) => new Response(null, { status: 204 }))
    vi.stubGlobal('fetch', sent)
    const runtimeConfig = vi.fn((event: { keys: object } | undefined) => ({ autoApi: { s3: event?.keys } }))
    const find = resolve(S3 as StorageOption, { runtimeConfig })
    const event = { keys: { accessKeyId: 'A', secretAccessKey: 'B', sessionToken: 'C' } }
    await find(event).delete('a')
    expect(runtimeConfig).toHaveBeenLastCalledWith(event)
    const headers = new Headers(sent.mock.calls[0]![1].headers)
    expect([headers.get('authorization')!.includes('Credential=A/'), headers.get('x-amz-security-token')]).toEqual([true, 'C'])
    const missing = '[auto-api] fileUpload: there are no keys for S3. '
      + 'Set NUXT_AUTO_API_S3_ACCESS_KEY_ID and NUXT_AUTO_API_S3_SECRET_ACCESS_KEY.'
    for (const keys of [undefined, {}, { accessKeyId: 'A' }, { secretAccessKey: 'B' }, { accessKeyId: '', secretAccessKey: 'B' },
      { accessKeyId: 'A', secretAccessKey: '' }])
      await expect(find({ keys }).delete('a')).rejects.toThrow(missing)
    await expect(resolve(S3 as StorageOption, { runtimeConfig: () => ({}) })().delete('a')).rejects.toThrow(missing)
  })

  it('gets the binding of R2 from its event, or of the runtime for a task', async () => {
    const bucket = (key: string) => ({ list: async () => ({ objects: [{ key }], truncated: false }) })
    const find = resolve({ type: 'r2', binding: 'FILES' })
    const env = (key: string) => ({ cloudflare: { env: { FILES: bucket(key) } } })
    expect(await stored(find({ context: env('nuxt4') }))).toEqual(['nuxt4'])
    const headers = new Headers()
    expect(await stored(find({ context: {}, req: { headers, runtime: env('nuxt5') } }))).toEqual(['nuxt5'])
    const missing = '[auto-api] fileUpload: the platform has no binding `FILES`. Add an R2 bucket with this binding.'
    for (const event of [undefined, {}, { context: {} }, { req: { headers } }, { context: { cloudflare: {} } },
      { req: { headers, runtime: {} } }, { req: { headers, runtime: { cloudflare: {} } } }, { context: { cloudflare: { env: {} } } }])
      expect(() => find(event)).toThrow(new Error(missing))
    vi.stubGlobal('__env__', { FILES: bucket('task') })
    for (const event of [undefined, {}, { context: {}, req: { headers } }]) expect(await stored(find(event))).toEqual(['task'])
    expect(await stored(find({ context: env('nuxt4') }))).toEqual(['nuxt4'])
  })
})
