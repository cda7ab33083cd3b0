/**
 * The composables of the API for resources that are known only at run time. The admin has no other data source. The types of the public
 * composables need the name of a resource; here each row is an object with unknown values.
 */
import type { InfiniteData, UseInfiniteQueryReturnType, UseQueryReturnType } from '@tanstack/vue-query'
import type { MaybeRefOrGetter } from 'vue'
import type { ActivityEntry } from '../../plugins/activity-feed/shared/types'
import type { AuditEntry } from '../../plugins/audit-log/shared/types'
import type { FeedCursorPage } from '../../shared/types/feed'
import type { StoredFile } from '../../plugins/file-upload/shared/types'
import type { RecordId } from '../../shared/types/resources'
import type { Affected } from '../../app/actions'
import { useAutoApiHistoryInfinite, useAutoApiRevert } from '../../plugins/audit-log/app/index'
import { useAutoApiEndpoint } from '../../app/composables/endpoint'
import { useAutoApiExport, type ExportProgress } from '../../plugins/data-export/app/export'
import { useAutoApiFile, useAutoApiFileRemove, useAutoApiUpload, type LinkedFile } from '../../plugins/file-upload/app/index'
import { useAutoApiForm } from '../../app/composables/form'
import { useAutoApiImport, type ImportResult } from '../../plugins/data-export/app/import'
import { useAutoApiMutation } from '../../app/composables/mutations'
import { useAutoApiPermissions, useAutoApiRecordPermissions } from '../../app/composables/permissions'
import { useAutoApiAggregate, useAutoApiGet, useAutoApiInfinite, useAutoApiList } from '../../app/composables/queries'
import { useAutoApiRelation, useAutoApiRelationAdd, useAutoApiRelationRemove, type Links } from '../../app/composables/relations'
import { useAutoApiTokenRotate } from '../../plugins/api-tokens/app/index'
import type { AutoApiError } from '../../app/error'
import type { FormResult } from '../../app/form/types'
import type { MutationOptions, MutationResult } from '../../app/mutation'
import type { InfiniteOptions, QueryOptions } from '../../app/query'
import { prefix } from '../../app/nuxt'
import type { FileSender } from '../../app/send-file'
import { prefetchInOrder } from './prefetch'

export type Row = Readonly<Record<string, unknown>>

export interface Page {
  readonly data: readonly Row[]
  readonly meta: {
    readonly limit: number
    readonly page?: number
    readonly total?: number
    readonly totalIsMore?: true
    readonly hasMore?: boolean
    readonly nextCursor?: string | null
  }
}

export interface CursorPage {
  readonly data: readonly Row[]
  readonly meta: { readonly limit: number, readonly hasMore: boolean, readonly nextCursor: string | null }
}

export interface Groups {
  readonly data: readonly (Row & { readonly count?: number })[]
  readonly meta: { readonly total: number }
}

/** The parameters of a request, checked by the server. */
export type Query = Readonly<Record<string, unknown>>

type Id = MaybeRefOrGetter<RecordId | null | undefined>
type Result<Data> = UseQueryReturnType<Data, AutoApiError>

export const useList = useAutoApiList as unknown as
  (resource: string, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Page>) => Result<Page>

export const useRecord = useAutoApiGet as unknown as
  (resource: string, id: Id, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Row>) => Result<Row>

export const usePages = useAutoApiInfinite as unknown as
  (resource: string, query?: MaybeRefOrGetter<Query>, options?: InfiniteOptions<CursorPage>)
  => UseInfiniteQueryReturnType<InfiniteData<CursorPage, string>, AutoApiError>

export const useAggregate = useAutoApiAggregate as unknown as
  (resource: string, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Groups>) => Result<Groups>

export const useRelated = useAutoApiRelation as unknown as
  (resource: string, id: Id, relation: string, query?: MaybeRefOrGetter<Query>, options?: QueryOptions<Page>) => Result<Page>

export interface LinkCounts { readonly added: number, readonly removed: number, readonly total: number }
type UseLinks = (resource: string, relation: string, options?: MutationOptions<LinkCounts, Links>) => MutationResult<LinkCounts, Links>
export const useLinkAdd = useAutoApiRelationAdd as unknown as UseLinks
export const useLinkRemove = useAutoApiRelationRemove as unknown as UseLinks

/** A failed item of a batch. */
export interface Failure { readonly index: number, readonly id?: RecordId, readonly message: string }

export interface Batch<Item = Row> {
  readonly data: readonly Item[]
  readonly meta: { readonly total: number, readonly successful: number, readonly failed: number, readonly errors?: readonly Failure[] }
}

export interface Deleted { readonly softDeleted: boolean, readonly deletionId?: string }

/** A record, several ones, or all records of a deletion. */
type Target = { readonly id: RecordId } | { readonly ids: readonly RecordId[] } | { readonly deletionId: string }

/** With `confirm` of a preview, the write is refused if it would change other records. */
type Confirmed<T> = T & { readonly confirm?: string }

/** The variables and the response of each write. */
interface Writes {
  create: [Row, Row]
  update: [Row & { readonly id: RecordId }, Row]
  delete: [RecordId | { readonly id: RecordId, readonly reason?: string, readonly confirm?: string }, Deleted]
  restore: [RecordId | Confirmed<Target>, Row | Batch]
  purge: [RecordId | Confirmed<Target>, Deleted | Batch<Deleted>]
  bulkUpdate: [readonly { readonly id: RecordId, readonly data: Row }[], Batch]
  bulkDelete: [readonly RecordId[] | Confirmed<{ readonly ids: readonly RecordId[] }>, Batch<Deleted & { readonly id: RecordId }>]
}

export const useWrite = useAutoApiMutation as unknown as
  <A extends keyof Writes>(resource: string, action: A, options?: MutationOptions<Writes[A][1], Writes[A][0]>)
  => MutationResult<Writes[A][1], Writes[A][0]>

/** Asks the server which rows a delete, a restore or a purge would change. */
export function usePreview<A extends 'delete' | 'restore' | 'purge' | 'bulkDelete'>(
  resource: string, action: A,
): MutationResult<Affected, Writes[A][0]> {
  return useAutoApiMutation(resource as never, action as never, { dryRun: true } as never) as never
}

export interface Form extends Omit<FormResult<never>, 'state' | 'changes' | 'record' | 'conflict' | 'errorOf' | 'submit' | 'overwrite'> {
  readonly state: Record<string, unknown>
  readonly changes: { readonly value: Row }
  readonly record: { readonly value: Row | undefined }
  readonly conflict: { readonly value: Row | undefined }
  readonly errorOf: (name: string) => string | undefined
  readonly submit: () => Promise<Row | undefined>
  readonly overwrite: () => Promise<Row | undefined>
}

export const useForm = useAutoApiForm as unknown as (resource: string, options?: {
  readonly id?: Id
  readonly defaults?: MaybeRefOrGetter<Row>
  readonly onSuccess?: (record: Row) => unknown
}) => Form

export const usePermissions = useAutoApiPermissions as unknown as (resource: string) => ReturnType<typeof useAutoApiPermissions<never>>

export const useRecordPermissions = useAutoApiRecordPermissions as unknown as
  (resource: string, ids: MaybeRefOrGetter<readonly RecordId[]>, options?: { enabled?: MaybeRefOrGetter<boolean> })
  => ReturnType<typeof useAutoApiRecordPermissions<never>>

export const useExport = useAutoApiExport as unknown as (resource: string, options?: MutationOptions<File, Query>) =>
  MutationResult<File, Query> & { readonly progress: { readonly value: ExportProgress | undefined }, readonly cancel: () => void }

export const useImport = useAutoApiImport as unknown as (resource: string, options?: { readonly dryRun?: boolean }) => ImportResult

export interface UploadVariables { readonly id: RecordId, readonly file: Blob, readonly name?: string }

export const useUpload = useAutoApiUpload as unknown as (resource: string, field: string) =>
  MutationResult<Row, UploadVariables> & Pick<FileSender, 'progress'> & { readonly cancel: () => void }

export const useFileRemove = useAutoApiFileRemove as unknown as (resource: string, field: string) =>
MutationResult<Row, RecordId | { readonly id: RecordId, readonly key?: string }>

export const useFile = useAutoApiFile as unknown as
  (resource: string, field: string) => (record: Row | null | undefined) => LinkedFile | LinkedFile[] | undefined

export const useHistory = useAutoApiHistoryInfinite as unknown as
  (resource: string, id: Id, query?: MaybeRefOrGetter<Query>)
  => UseInfiniteQueryReturnType<InfiniteData<FeedCursorPage<AuditEntry>, string>, AutoApiError>

export const useRevert = useAutoApiRevert as unknown as
  (resource: string, options?: MutationOptions<Row, Pick<AuditEntry, 'id'>>) => MutationResult<Row, Pick<AuditEntry, 'id'>>

export const useRotate = useAutoApiTokenRotate as unknown as
  (resource: string, options?: MutationOptions<Row, RecordId>) => MutationResult<Row, RecordId>

/** A many-to-many relation that the caller can read. */
export interface Relationship { readonly name: string, readonly resource: string, readonly junction: string }

interface Junctions { readonly junctions: readonly { readonly resources: readonly string[] }[] }

/** Reads the many-to-many relations of a resource. Most resources are in no junction table and need no request of their own. */
export function useRelationships(resource: string): Result<{ readonly relationships: readonly Relationship[] }> {
  const junctions = useAutoApiEndpoint(`${prefix}/_m2m/junctions`, { staleTime: 60_000 }) as Result<Junctions>
  const relationships = useAutoApiEndpoint(`${prefix}/_m2m/detect/${encodeURIComponent(resource)}`, {
    enabled: () => junctions.data.value?.junctions.some(({ resources }) => resources.includes(resource)) ?? false,
    staleTime: 60_000,
  })
  prefetchInOrder(junctions, relationships)
  return relationships as never
}

export type { ActivityEntry, AuditEntry, AutoApiError, LinkedFile, RecordId, StoredFile }
