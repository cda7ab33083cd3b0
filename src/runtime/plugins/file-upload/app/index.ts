/** Composables for the files of records: uploads, removals, and the URLs of files. */
import { useQueryClient } from '@tanstack/vue-query'
import type { FileField, FileResource, IsFileList, StoredFile } from '../shared/types'
import type { RecordId, RecordOf, ResourceName } from '../../../shared/types/resources'
import { toQuery, useClient, type Client } from '../../../app/client'
import { withCurrent, withTags, type IfMatchOptions } from '../../../app/if-match'
import { idOf } from '../../../app/keys'
import { useApiMutation, type MutationOptions, type MutationResult } from '../../../app/mutation'
import type { OnlyAtRunTime, Row } from '../../../app/any-resource'
import { useRuntimeConfig } from '../../../app/nuxt'
import { useFileSender, type FileSender } from '../../../app/send-file'

export type { StoredFile as AutoApiStoredFile } from '../shared/types'

/** The variables of an upload. */
export interface UploadVariables {
  readonly id: RecordId
  /** The file that the user chose or dropped, or any bytes. */
  readonly file: Blob
  /** The name of the file. @default the file's own name, or that of the field */
  readonly name?: string
}

/** The variables of a removal: the id of the record, and for one file of a list its key. */
export type RemovalVariables = RecordId | { readonly id: RecordId, readonly key?: string }

/** A file with its addresses. */
export interface LinkedFile extends StoredFile {
  /** The address for `src`. It changes with the file, so a page never shows an earlier file from a cache. */
  readonly url: string
  /** The address that downloads the file, also if the browser could show it. */
  readonly downloadUrl: string
}

/** A list for a field with several files. */
type Linked<R extends ResourceName, F extends FileField<R>> = IsFileList<R, F> extends true ? LinkedFile[] : LinkedFile

type Options<Written, Variables, Context = unknown>
  = MutationOptions<Written, Variables, Context, Written> & IfMatchOptions<'update'>

export type UploadResult<Written, Context = unknown>
  = MutationResult<Written, UploadVariables, Context, Written> & Pick<FileSender, 'progress'> & {
    /** Ends the upload. `mutateAsync` rejects, and the state is that before the upload. */
    readonly cancel: () => void
  }

/**
 * Uploads a file of a record: `mutate({ id, file })`. Requires the plugin `fileUpload`. Resolves to the record, and refetches the queries
 * of the resource. `mutateAsync` rejects with an `AutoApiError`: 413 for a file that is too large, 415 for a type that the field does not
 * accept. A new upload ends the previous one: for several files, wait for `mutateAsync`.
 * @example
 * const { mutate, progress, cancel, error } = useAutoApiUpload('posts', 'cover')
 * // <input type="file" @change="event => mutate({ id: post.id, file: event.target.files[0] })">
 * // <progress v-if="progress" :value="progress.sent" :max="progress.total" />
 */
export function useAutoApiUpload<R extends FileResource<'update'>, Context = unknown>(
  resource: R,
  field: FileField<R>,
  options?: Options<RecordOf<R>, UploadVariables, Context>,
): UploadResult<RecordOf<R>, Context>
/** Uploads a file of a record of a resource whose name is known only at run time. */
export function useAutoApiUpload<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, field: string, options?: Options<Row, UploadVariables, Context>, ...literal: L
): UploadResult<Row, Context>
export function useAutoApiUpload(resource: string, field: string, options: Options<Row, UploadVariables> = {}): UploadResult<Row> {
  const client = useClient()
  const { progress, send, cancel } = useFileSender()
  const mutation = useFileMutation<UploadVariables>(resource, options, client, ({ id, file, name }, ifMatch) => {
    const query = new URLSearchParams(toQuery({ name: name ?? (file as Partial<File>).name }))
    return send(`${pathOf(client, resource, id)}/upload/${field}?${query}`, file, {
      'content-type': file.type || 'application/octet-stream',
      ...ifMatch !== undefined && { 'if-match': ifMatch },
    })
  })
  return Object.assign(mutation, {
    progress,
    cancel() {
      cancel()
      mutation.reset()
    },
  })
}

/**
 * Removes files of a record: `mutate(id)` for all files of the field, `mutate({ id, key })` for one file of a list. Resolves to the record.
 * `mutateAsync` rejects with an `AutoApiError`.
 * @example
 * const { mutate } = useAutoApiFileRemove('posts', 'cover')
 */
export function useAutoApiFileRemove<R extends FileResource<'update'>, Context = unknown>(
  resource: R,
  field: FileField<R>,
  options?: Options<RecordOf<R>, RemovalVariables, Context>,
): MutationResult<RecordOf<R>, RemovalVariables, Context, RecordOf<R>>
/** Removes files of a record of a resource whose name is known only at run time. */
export function useAutoApiFileRemove<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, field: string, options?: Options<Row, RemovalVariables, Context>, ...literal: L
): MutationResult<Row, RemovalVariables, Context, Row>
export function useAutoApiFileRemove(
  resource: string, field: string, options: Options<Row, RemovalVariables> = {},
): MutationResult<Row, RemovalVariables, unknown, Row> {
  const client = useClient()
  return useFileMutation(resource, options, client, (variables, ifMatch) => {
    const { id, key } = toTarget(variables)
    const path = `${pathOf(client, resource, id)}/files/${field}${key === undefined ? '' : `/${encodeURIComponent(key)}`}`
    return client.send('DELETE', path, {}, undefined, undefined, { ifMatch, isRecord: true })
  })
}

/**
 * Returns a function that adds the addresses to the file of a record, or to each file of a list. It returns `undefined` if the record has
 * no file, or was read without its key or without the field.
 * @example
 * const coverOf = useAutoApiFile('posts', 'cover')
 * // <img v-if="post.cover" :src="coverOf(post)?.url" :width="post.cover.width" :height="post.cover.height" alt="">
 */
export function useAutoApiFile<R extends FileResource<'read'>, const F extends FileField<R> & string>(
  resource: R,
  field: F,
): (record: Readonly<Partial<RecordOf<R>>> | null | undefined) => Linked<R, F> | undefined
/** Returns the function for a resource whose name is known only at run time. */
export function useAutoApiFile<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, field: string, ...literal: L
): (record: Row | null | undefined) => LinkedFile | LinkedFile[] | undefined
export function useAutoApiFile(
  resource: string, field: string,
): (record: Row | null | undefined) => LinkedFile | LinkedFile[] | undefined {
  const client = useClient()
  const base = useRuntimeConfig().app.baseURL.replace(/\/$/, '')
  return (record) => {
    const values = record ?? {}
    const value = values[field] as StoredFile | readonly StoredFile[] | null | undefined
    const id = value ? idOf(resource, values) : undefined
    const path = id === undefined ? undefined : findPath(client, resource, id)
    if (!value || path === undefined) return undefined
    const link = (file: StoredFile): LinkedFile => {
      const url = `${base}${path}/files/${field}/${encodeURIComponent(file.key)}`
      return { ...file, url, downloadUrl: `${url}?download=true` }
    }
    return 'key' in value ? link(value) : value.map(link)
  }
}

const pathOf = (client: Client, resource: string, id: RecordId) => client.pathOf({ route: 'get', resource, id })

/** An id such as `..` cannot be part of a path. It must not stop the page from rendering. */
function findPath(client: Client, resource: string, id: RecordId): string | undefined {
  try {
    return pathOf(client, resource, id)
  }
  catch {
    return undefined
  }
}

const toTarget = (variables: RemovalVariables) => typeof variables === 'object' ? variables : { id: variables, key: undefined }

/** Writes a file as an update of its record: with the tag of the record, and with the current record in the error if the tag is old. */
function useFileMutation<Variables extends RemovalVariables>(
  resource: string,
  { ifMatch = false, ...options }: Options<Row, Variables>,
  client: Client,
  send: (variables: Variables, ifMatch: string | undefined) => Promise<unknown>,
): MutationResult<Row, Variables, unknown, Row> {
  const queryClient = useQueryClient()
  return useApiMutation<Row, Variables, unknown, Row>({
    async send(variables) {
      const call = { route: 'update', resource, id: toTarget(variables).id } as const
      try {
        return await send(variables, withTags(call, ifMatch, queryClient).ifMatch)
      }
      catch (error) {
        throw await withCurrent(error, call, client)
      }
    },
    invalidates: () => ({ resources: new Set<string>([resource]) }),
  }, options)
}
