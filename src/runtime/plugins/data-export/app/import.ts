/** Imports a file, with its progress and its problems by line. */
import { computed, type ComputedRef } from 'vue'
import { toQuery } from '../../../app/client'
import type { ApiItemError } from '../../../app/error'
import type { OnlyAtRunTime } from '../../../app/any-resource'
import { useApiMutation, type MutationOptions, type MutationResult, type WriteOptions } from '../../../app/mutation'
import { prefix } from '../../../app/nuxt'
import { useFileSender, type FileSender } from '../../../app/send-file'
import type { Creatable } from '../../../app/composables/mutations'

/** The variables of `mutate`. */
export interface ImportVariables {
  /** A CSV or NDJSON file. */
  readonly file: Blob
  /** The media type of the file. @default NDJSON for a file with the ending `.ndjson` or `.jsonl`, otherwise CSV */
  readonly type?: 'text/csv' | 'application/x-ndjson'
  /** Whether lines can update existing records. @default 'create' */
  readonly mode?: 'create' | 'upsert'
  /** For `upsert`: the fields that identify a record. @default the primary key */
  readonly key?: string | readonly string[]
  /** For CSV. @default ',' */
  readonly separator?: ',' | ';' | 'tab'
  /** For CSV: leaves the apostrophes that an export adds to formulas. */
  readonly formulas?: 'keep'
}

export interface ImportCounts {
  readonly data: { readonly created: number, readonly updated: number }
  readonly meta: { readonly total: number }
}

/** Why a line is refused. Line 1 is the header of a CSV file. */
export type ImportProblem = Omit<ApiItemError, 'index'> & { readonly line: number }

export type ImportOptions<Context> = MutationOptions<ImportCounts, ImportVariables, Context> & WriteOptions<boolean>

export type ImportResult<Context = unknown> = MutationResult<ImportCounts, ImportVariables, Context> & Pick<FileSender, 'progress'> & {
  /** The lines of the last file that were refused; nothing of it was written then. */
  readonly problems: ComputedRef<readonly ImportProblem[]>
  /** Ends the upload. The server has written the file or nothing. `mutateAsync` rejects, and the state is that before the upload. */
  readonly cancel: () => void
}

/**
 * Imports a CSV or NDJSON file in the browser: `mutate({ file, mode: 'upsert', key: 'slug' })`. It requires the plugin `dataExport`.
 * `mutateAsync` resolves to `{ data: { created, updated }, meta: { total } }`, and rejects with an `AutoApiError`.
 * @example
 * const preview = useAutoApiImport('posts', { dryRun: true })
 * const { mutate, progress, problems } = useAutoApiImport('posts')
 */
export function useAutoApiImport<R extends Creatable, Context = unknown>(
  resource: R,
  options?: ImportOptions<Context>,
): ImportResult<Context>
/** Imports a file into a resource whose name is known only at run time. */
export function useAutoApiImport<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, options?: ImportOptions<Context>, ...literal: L
): ImportResult<Context>
export function useAutoApiImport(resource: string, options: ImportOptions<unknown> = {}): ImportResult {
  const { progress, send, cancel } = useFileSender()
  const mutation = useApiMutation<ImportCounts, ImportVariables>(
    {
      send({ file, type = typeOf(file), key, ...query }, dryRun) {
        const search = new URLSearchParams(toQuery({ ...query, ...dryRun, ...key !== undefined && { key: [key].flat().join(',') } }))
        return send(`${prefix}/${resource}/import?${search}`, file, { 'content-type': type })
      },
      invalidates: () => ({ resources: new Set([resource]) }),
    },
    options,
  )
  return Object.assign(mutation, {
    progress,
    problems: computed(() => (mutation.error.value?.errors ?? []) as unknown as readonly ImportProblem[]),
    cancel() {
      cancel()
      mutation.reset()
    },
  })
}

function typeOf(file: Blob): 'text/csv' | 'application/x-ndjson' {
  const isNdjson = file.type === 'application/x-ndjson' || /\.(?:ndjson|jsonl)$/i.test((file as Partial<File>).name ?? '')
  return isNdjson ? 'application/x-ndjson' : 'text/csv'
}
