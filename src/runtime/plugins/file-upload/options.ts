/** The options of file uploads, and the rules of each field that they result in. */
import { isObject } from '../../shared/is-object'
import { toBytes } from '../../shared/size'
import { assertOptions, describeValue, type Importable } from '../../server/plugin/options'
import { didYouMean } from '../../shared/suggest'
import type { FileLimits } from './content/receive'
import { FILE_TYPES, typesOf } from './content/types'
import { assertStorageOption, type StorageOption } from './storage/resolve'
import { flag, positiveInteger, type OptionRules } from '../../shared/option-rule'

export interface FileFieldOptions {
  /**
   * The media types of the field. `image/*` stands for all images except SVG. SVG, HTML and XML must be listed by name.
   * @example ['image/png', 'image/jpeg', 'application/pdf']
   */
  readonly accept: readonly string[]
  /**
   * The maximum size of a file: a number of bytes, or a size such as `'5mb'`.
   * @default '10mb'
   */
  readonly maxSize?: number | string
  /**
   * The maximum number of pixels of an image: its width times its height.
   * @default 50000000
   */
  readonly maxPixels?: number
  /**
   * Whether the field is a list of files. An upload adds a file to the list.
   * @default false
   */
  readonly multiple?: boolean
  /**
   * The maximum number of files in a list.
   * @default 20
   */
  readonly maxFiles?: number
}

export interface FileUploadOptions {
  /** The file columns, by resource and field. Each is a JSON or text column. Clients cannot write it in any other way. */
  readonly resources: Readonly<Record<string, Readonly<Record<string, FileFieldOptions>>>>
  /**
   * Where files are stored: the name of a storage in `nitro.storage`, data for an adapter, or `createModuleImport(path, name)` of a
   * storage.
   * @default { type: 'fs', base: '.data/uploads' }
   */
  readonly storage?: Importable<StorageOption>
}

/** A file column and its rules. */
export interface FileField extends FileLimits {
  readonly resource: string
  readonly field: string
  readonly multiple: boolean
  readonly maxFiles: number
}

const FIELD_RULES: OptionRules<FileFieldOptions> = {
  accept: {
    fits: value => Array.isArray(value) && value.length > 0 && value.every(entry => typeof entry === 'string'),
    use: 'a list of media types such as `[\'image/png\', \'image/jpeg\']`',
    required: true,
  },
  maxSize: { fits: value => toBytes(value) !== undefined, use: 'a number of bytes or a size such as `\'5mb\'`' },
  maxPixels: positiveInteger,
  multiple: flag,
  maxFiles: positiveInteger,
}

const RULES: OptionRules<FileUploadOptions> = {
  resources: {
    fits: value => isObject(value) && Object.keys(value).length > 0,
    use: 'an object such as `{ posts: { cover: { accept: [\'image/png\'] } } }`',
    required: true,
  },
  storage: { fits: () => true, use: 'a storage', code: true },
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveFields(options: FileUploadOptions): readonly FileField[] {
  assertOptions(options, RULES, 'fileUpload')
  assertStorageOption(options.storage)
  return Object.entries(options.resources).flatMap(([resource, fields]) => {
    const where = `fileUpload.resources.${resource}`
    if (!isObject(fields) || Object.keys(fields).length === 0)
      throw new TypeError(
        `[auto-api] \`${where}\` is ${describeValue(fields)}. Use an object such as \`{ cover: { accept: ['image/png'] } }\`.`,
      )
    return Object.entries(fields).map(([field, own]) => resolveField(resource, field, own, `${where}.${field}`))
  })
}

function resolveField(resource: string, field: string, options: FileFieldOptions, where: string): FileField {
  assertOptions(options, FIELD_RULES, where)
  // The name of the field is a segment of URLs and of keys in the storage.
  if (!/^\w+$/.test(field)) throw new TypeError(`[auto-api] \`${where}\`: a file column has a name of letters, digits and \`_\`.`)
  const { accept, maxSize = '10mb', maxPixels = 50_000_000, multiple = false, maxFiles = 20 } = options
  if (options.maxFiles !== undefined && !multiple)
    throw new TypeError(`[auto-api] \`${where}.maxFiles\` has no effect without \`multiple: true\`.`)
  const accepted = accept.flatMap((entry) => {
    const types = typesOf(entry)
    if (types.length > 0) return types
    const known = FILE_TYPES.map(({ type }) => type)
    throw new TypeError(
      `[auto-api] \`${where}.accept\` has ${describeValue(entry)}, which uploads cannot recognize.${didYouMean(entry, known)} `
      + `The types are ${known.join(', ')}; \`image/*\`, \`video/*\`, \`audio/*\` and \`text/*\` stand for several.`,
    )
  })
  return { resource, field, accepted: [...new Set(accepted)], maxSize: toBytes(maxSize)!, maxPixels, multiple, maxFiles }
}
