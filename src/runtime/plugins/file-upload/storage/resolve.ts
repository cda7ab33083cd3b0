/** Finds the storage of the option `storage`: a mount of Nitro, plain data for an adapter, or a storage itself. */
import { bindingsOf } from '../../../server/kit/event'
import { describeValue } from '../../../server/plugin/options'
import { didYouMean } from '../../../shared/suggest'
import type { PluginServer } from '../../../server/plugin/server'
import type { FileStorage } from '../../../shared/file-storage'
import { fileSystemStorage, type FileSystemOptions } from './file-system'
import { r2Storage, type R2Bucket } from './r2'
import { s3Storage, type S3Credentials, type S3Options } from './s3'
import { unstorageStorage, type UnstorageDriver } from './unstorage'

/** Plain data for an adapter, so that it can be in `nuxt.config`. */
export type StorageData
  = ({ readonly type: 'fs' } & FileSystemOptions)
    /** The keys come from `runtimeConfig.autoApi.s3`. */
    | ({ readonly type: 's3' } & S3Options)
    /** The name of the bucket's binding. */
    | { readonly type: 'r2', readonly binding: string }

/** Returns the storage of a request. Without an event, it is that of a task. */
export type FindFileStorage = (event?: object) => FileStorage

export type StorageOption = string | StorageData | FileStorage | FindFileStorage

type AdapterOptions = Readonly<Record<string, 'required' | 'optional'>>

const ADAPTERS: Readonly<Record<StorageData['type'], AdapterOptions>> = {
  fs: { base: 'optional' },
  s3: { bucket: 'required', region: 'required', endpoint: 'optional', prefix: 'optional' },
  r2: { binding: 'required' },
}

/** @throws TypeError if the option is neither a name, nor valid data, nor a storage. Runs at build time too. */
export function assertStorageOption(option: unknown): void {
  if (option === undefined || typeof option === 'function' || (typeof option === 'string' && option !== '')) return
  if (typeof option !== 'object' || option === null) throw invalid(`is ${describeValue(option)}.`)
  if (isStorage(option) || '__moduleImport' in option) return
  const { type } = option as { readonly type?: unknown }
  if (!isAdapter(type)) throw invalid(`has the type ${describeValue(type)}.${didYouMean(String(type), Object.keys(ADAPTERS))}`)
  const adapter = ADAPTERS[type]
  for (const [name, value] of Object.entries(option)) {
    if (name === 'type') continue
    if (!Object.hasOwn(adapter, name))
      throw invalid(`has \`${name}\`, which is not an option of \`${type}\`.${didYouMean(name, Object.keys(adapter))}`)
    if (value !== undefined && (typeof value !== 'string' || value === '')) throw invalid(`has \`${name}\`, which is not a string.`)
  }
  const given = option as Readonly<Record<string, unknown>>
  const missing = Object.keys(adapter).find(name => adapter[name] === 'required' && given[name] === undefined)
  if (missing !== undefined) throw invalid(`has no \`${missing}\`, which \`${type}\` requires.`)
  const { endpoint, prefix } = option as Partial<S3Options>
  if (endpoint !== undefined && !URL.canParse(endpoint)) throw invalid('has an `endpoint` that is not a URL.')
  if (prefix !== undefined && !/^(?:[\w-]+\/)+$/.test(prefix))
    throw invalid('has a `prefix` that is not made of segments of letters, digits, `-` and `_`, each with `/` at its end.')
}

const invalid = (problem: string) => new TypeError(
  `[auto-api] \`fileUpload.storage\` ${problem} Use the name of a storage in \`nitro.storage\`, `
  + 'data such as `{ type: \'fs\', base: \'…\' }`, or `createModuleImport(path, name)` of a storage.',
)

const isAdapter = (type: unknown): type is StorageData['type'] => typeof type === 'string' && Object.hasOwn(ADAPTERS, type)

const isStorage = (value: object): value is FileStorage =>
  (['put', 'get', 'delete', 'list'] as const).every(name => typeof (value as Partial<FileStorage>)[name] === 'function')

/** @throws When the storage of Nitro does not exist, or cannot store files. */
export function resolveStorage(option: StorageOption | undefined, server: PluginServer): FindFileStorage {
  assertStorageOption(option)
  if (typeof option === 'function') return option
  if (typeof option === 'string') return always(mountedStorage(option, server))
  if (option === undefined) return always(fileSystemStorage())
  if (isStorage(option)) return always(option)
  if (option.type === 'fs') return always(fileSystemStorage(option))
  if (option.type === 's3') return s3Of(option, server)
  return event => r2Storage(findBinding(option.binding, event))
}

const always = (storage: FileStorage): FindFileStorage => () => storage

function mountedStorage(name: string, { storage }: PluginServer): FileStorage {
  const driver = storage(name) as UnstorageDriver | undefined
  if (driver) return unstorageStorage(driver)
  throw new Error(
    `[auto-api] fileUpload: Storage \`${name}\` is not configured. Add it to \`nitro.storage\` in nuxt.config, such as `
    + `\`${name}: { driver: 'fs', base: './.data/${name}' }\`.`,
  )
}

/** The keys can come with the event, so they are read for each request. */
function s3Of(options: S3Options, { runtimeConfig }: PluginServer): FindFileStorage {
  return event => s3Storage(options, () => {
    const { s3 } = (runtimeConfig(event).autoApi ?? {}) as { readonly s3?: Partial<S3Credentials> }
    const { accessKeyId, secretAccessKey, sessionToken } = s3 ?? {}
    if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey, sessionToken }
    throw new Error(
      '[auto-api] fileUpload: there are no keys for S3. Set NUXT_AUTO_API_S3_ACCESS_KEY_ID and NUXT_AUTO_API_S3_SECRET_ACCESS_KEY.',
    )
  })
}

/** @param event absent in a task */
function findBinding(name: string, event: object | undefined): R2Bucket {
  const bucket = bindingsOf(event)?.[name]
  if (bucket) return bucket as R2Bucket
  throw new Error(`[auto-api] fileUpload: the platform has no binding \`${name}\`. Add an R2 bucket with this binding.`)
}
