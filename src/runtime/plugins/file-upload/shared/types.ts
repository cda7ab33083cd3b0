/** The types of files in records. */
import type { Operation } from '../../../shared/operations'
import type { FieldName, FieldValue, ResourceWith, ResourceName } from '../../../shared/types/resources'

/** A file as its record names it. */
export interface StoredFile {
  /** Identifies the file within its field. It is a new random value for each upload. */
  readonly key: string
  /** The cleaned name of the file, for display and downloads. */
  readonly name: string
  /** The media type, found from the content. */
  readonly type: string
  /** Bytes. */
  readonly size: number
  /** In hexadecimal. */
  readonly sha256: string
  /** Pixels. Only images have a width and a height. */
  readonly width?: number
  readonly height?: number
}

/** The fields whose columns have the type `StoredFile` or `StoredFile[]`. */
export type FileField<R extends ResourceName> = {
  [K in FieldName<R>]: NonNullable<FieldValue<R, K>> extends StoredFile | readonly StoredFile[] ? K : never
}[FieldName<R>]

/** The resources with such fields, whose registrations do not disable an operation. */
export type FileResource<O extends Operation> = {
  [R in ResourceWith<O>]: [FileField<R>] extends [never] ? never : R
}[ResourceWith<O>]

/** Whether a field is a list of files. */
export type IsFileList<R extends ResourceName, F extends FileField<R>>
  = NonNullable<FieldValue<R, F>> extends readonly StoredFile[] ? true : false
