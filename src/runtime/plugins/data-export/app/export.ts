/** Downloads an exported file, with its progress. */
import { shallowRef, type ShallowRef } from 'vue'
import { isIncomplete } from '../shared/failure'
import { useClient } from '../../../app/client'
import { toAutoApiError } from '../../../app/error'
import { useApiMutation, type MutationOptions, type MutationResult } from '../../../app/mutation'
import type { OnlyAtRunTime, Query } from '../../../app/any-resource'
import type { GetQuery, UnpagedQuery } from '../../../shared/types/query'
import type { ResourceWith } from '../../../shared/types/resources'

type Readable = ResourceWith<'read'>

/** The variables of `mutate`: a list query without pages, and the form of the file. */
export interface ExportQuery<R extends Readable> extends GetQuery<R>, Pick<UnpagedQuery<R>, 'filter' | 'sort'>, FileForm {}

export interface FileForm {
  /** @default the first format that the plugin `dataExport` allows */
  readonly format?: 'csv' | 'json' | 'ndjson'
  /** For CSV. @default ',' */
  readonly separator?: ',' | ';' | 'tab'
  /** For CSV: begins the file with a byte order mark, which Excel needs. @default false */
  readonly bom?: boolean
  /** For CSV: leaves text that a spreadsheet would run as a formula as it is. */
  readonly formulas?: 'keep'
}

export interface ExportProgress {
  /** Bytes that have arrived. */
  readonly bytes: number
  /** Records that have arrived. */
  readonly records: number
  /** Records of the whole file. */
  readonly total: number
}

export type ExportOptions<Variables, Context> = MutationOptions<File, Variables, Context> & {
  /** Whether the browser saves the file. If it is false, use the file that `mutateAsync` and `onSuccess` receive. @default true */
  readonly save?: boolean
}

export type ExportResult<Variables, Context> = MutationResult<File, Variables, Context> & {
  /** `undefined` until the first part of the file has arrived. */
  readonly progress: Readonly<ShallowRef<ExportProgress | undefined>>
  /** Ends the download. `mutateAsync` rejects, and the state is that before the download. */
  readonly cancel: () => void
}

/**
 * Downloads a list as a file: `mutate({ filter, sort, format: 'csv' })`. The browser saves the file when it is complete. Requires
 * the plugin `dataExport`. `mutateAsync` resolves to the file, and rejects with an `AutoApiError`, also if the file is not complete.
 * @example
 * const { mutate, progress, cancel, isPending } = useAutoApiExport('posts')
 * mutate({ filter: { status: 'published' }, format: 'csv' })
 */
export function useAutoApiExport<R extends Readable, Context = unknown>(
  resource: R,
  options?: ExportOptions<ExportQuery<R>, Context>,
): ExportResult<ExportQuery<R>, Context>
/** Downloads a list of a resource whose name is known only at run time. */
export function useAutoApiExport<N extends string, L extends OnlyAtRunTime<N>, Context = unknown>(
  resource: N, options?: ExportOptions<Query & FileForm, Context>, ...literal: L
): ExportResult<Query & FileForm, Context>
export function useAutoApiExport(resource: string, { save = true, ...options }: { readonly save?: boolean } = {}): unknown {
  const client = useClient()
  const progress = shallowRef<ExportProgress>()
  let controller: AbortController | undefined
  const mutation = useApiMutation<File, Query & FileForm>(
    {
      async send(query) {
        controller?.abort()
        const current = controller = new AbortController()
        progress.value = undefined
        const response = await client.open(resource, '/export', query, current.signal)
        const onProgress = (value: ExportProgress) => {
          // A download that was cancelled ends here, and does not overwrite the progress of the next one.
          current.signal.throwIfAborted()
          progress.value = value
        }
        const file = await readFile(response, onProgress).catch((error: unknown) => {
          throw toAutoApiError(error)
        })
        if (save) saveFile(file)
        return file
      },
      invalidates: () => ({ resources: new Set() }),
    },
    options,
  )
  return Object.assign(mutation, {
    progress,
    cancel() {
      controller?.abort()
      progress.value = undefined
      mutation.reset()
    },
  })
}

/** Reads the file and counts its records. In every format, a line end outside of quotes ends a record. */
async function readFile(response: Response, onProgress: (progress: ExportProgress) => void): Promise<File> {
  const { headers, body } = response
  const type = headers.get('content-type') ?? ''
  const isCsv = type.startsWith('text/csv')
  const total = Number(headers.get('x-total-count'))
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  let ends = 0
  let isQuoted = false
  const reader = body!.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    for (const byte of value) {
      if (isCsv && byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_END && !isQuoted) ends++
    }
    chunks.push(value as Uint8Array<ArrayBuffer>)
    bytes += value.byteLength
    onProgress({ bytes, total, records: Math.max(0, isCsv ? ends - 1 : ends) })
  }
  const [, name = 'export'] = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? []
  const file = new File(chunks, name, { type })
  // Some runtimes end a response that fails like a complete one.
  if (isIncomplete(type, await file.slice(-100).text())) throw new Error('The export failed, so the file is not complete.')
  onProgress({ bytes, total, records: total })
  return file
}

const QUOTE = 0x22
const LINE_END = 0x0A

function saveFile(file: File): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = file.name
  link.click()
  // Some browsers read the file after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
