/** Writes the records of a list as one file: whole, or with an error that the client notices. */
import type { Awaitable } from '../../../server/kit/process'
import { limitExceeded } from '../../../server/kit/errors'
import type { OpenedList } from '../../../server/kit/records'
import type { FileWriter } from './formats'
import { CHUNK, createPatience, STALL_LIMIT } from './stall-limit'

export interface FileOptions {
  readonly maxRows: number
  /** Takes a slot, and returns the function that frees it. */
  readonly take: () => () => void
  /** Receives the number of records before the first chunk. If it throws, the file does not begin. */
  readonly onTotal: (total: number) => Awaitable<void>
  /** @default {@link STALL_LIMIT} */
  readonly stallLimit?: number
}

/**
 * @returns the chunks of the file. They begin nothing before the first one is requested.
 * @throws Before the first chunk: 503 if too many exports run, `LIMIT_EXCEEDED` if the list has more than `maxRows` records.
 */
export function createFile(
  list: OpenedList, writer: FileWriter, { stallLimit = STALL_LIMIT, ...options }: FileOptions,
): AsyncIterable<string> {
  return endOnStall(writeFile(list, writer, options), writer.failure, stallLimit)
}

async function* writeFile(
  list: OpenedList, writer: FileWriter, { maxRows, take, onTotal }: Omit<FileOptions, 'stallLimit'>,
): AsyncGenerator<string, void> {
  const free = take()
  try {
    const total = await list.count(maxRows + 1)
    if (total > maxRows) throw tooManyRows(maxRows)
    await onTotal(total)
    yield* toChunks(list, writer, maxRows)
  }
  finally {
    free()
  }
}

/** The client has each batch before the next one is read. An error after the first chunk also ends the text of the file. */
async function* toChunks(list: OpenedList, writer: FileWriter, maxRows: number): AsyncGenerator<string, void> {
  let hasBegun = false
  try {
    for await (const text of toText(list, writer, maxRows)) {
      hasBegun = true
      yield text
    }
  }
  catch (error) {
    if (hasBegun) yield writer.failure
    throw error
  }
}

async function* toText(list: OpenedList, { begin, record: write, end }: FileWriter, maxRows: number): AsyncGenerator<string, void> {
  let text = begin
  let written = 0
  for await (const records of list.batches()) {
    for (const record of records) {
      // Other requests can add rows meanwhile. Without this check, they could do so for ever.
      if (written === maxRows) throw tooManyRows(maxRows)
      text += write(record, written++ === 0)
      if (text.length < CHUNK) continue
      yield text
      text = ''
    }
    if (text !== '') yield text
    text = ''
  }
  yield text + end
}

const tooManyRows = (max: number) => limitExceeded(`The list has more than ${max} records. Narrow the filter.`)

/** Ends the producer when the client accepts no chunk for a while, or is much too slow for longer. */
function endOnStall(chunks: AsyncGenerator<string, void>, failure: string, limit: number): AsyncIterableIterator<string> {
  const patience = createPatience(limit)
  let hasStalled = false
  let hasFailed = false
  const onStall = () => {
    hasStalled = true
    void chunks.return()
  }
  return {
    async next() {
      patience.stop()
      if (hasStalled) {
        if (hasFailed) throw new Error(`[auto-api] The client of an export was too slow for ${limit} ms, so the export was ended.`)
        hasFailed = true
        return { done: false, value: failure }
      }
      const result = await chunks.next()
      if (!result.done) {
        patience.refund(result.value.length)
        patience.start(onStall)
      }
      return result as IteratorResult<string, undefined>
    },
    async return() {
      patience.stop()
      await chunks.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
