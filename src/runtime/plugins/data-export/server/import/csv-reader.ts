/** Reads a CSV file while it arrives, with csv-parse. A cell keeps whether it was quoted: `""` is an empty text, an empty cell is NULL. */
import type { CsvError, Options } from 'csv-parse'
import { ApiError, invalidBody } from '../../../../server/kit/errors'
import { MAX_LINE, type Line } from './lines'

/** A cell; `null` if it is empty and not quoted. */
export type Cell = string | null

export interface CsvStart {
  /** The file without the line `sep=;`. */
  readonly texts: AsyncGenerator<string, void>
  readonly separator: string
  /** The number of the first line of `texts`. */
  readonly line: number
}

const SEP_LINE = /^"?sep=([,;\t])"?(?:\r\n|\n|\r(?!\n))/i
const MAX_SEP_LINE = 10

/**
 * Reads the line `sep=;`, with which a file tells Excel its separator. Excel shows no record for it.
 * @param separator of a file without this line
 */
export async function startCsv(texts: AsyncGenerator<string, void>, separator: string): Promise<CsvStart> {
  let start = ''
  while (start.length < MAX_SEP_LINE) {
    const { done, value } = await texts.next()
    if (done) break
    start += value
  }
  const [line = '', own] = SEP_LINE.exec(start) ?? []
  const rest = start.slice(line.length)
  return {
    separator: own ?? separator,
    line: own === undefined ? 1 : 2,
    texts: (async function* () {
      if (rest !== '') yield rest
      yield* texts
    })(),
  }
}

/** Yields the cells of each record, with the line on which the record begins. A line that is no CSV ends the file with an error. */
export async function* readCsv({ texts, separator, line }: CsvStart): AsyncGenerator<Line<readonly Cell[]>, void> {
  const skipped = line - 1
  // Loaded with the first import, so that an app without imports does not load it.
  const { parse } = await import('csv-parse/stream')
  const options: Options = {
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: MAX_LINE,
    cast: (text, { quoting }) => text === '' && !quoting ? null : text,
  }
  try {
    for await (const cells of toStream(texts).pipeThrough(parse(options)) as unknown as AsyncIterable<readonly Cell[]>) {
      yield { line, value: cells }
      line += 1 + cells.reduce((ends, cell) => ends + countLineEnds(cell), 0)
    }
  }
  catch (error) {
    const { code, lines } = error as Partial<CsvError> & { readonly lines?: number }
    if (error instanceof ApiError || code === undefined || !Object.hasOwn(PROBLEMS, code)) throw error
    // The parser has dropped the records that it read before the error.
    yield { line: lines === undefined ? line : lines + skipped, value: invalidBody(`The line is no valid CSV: ${PROBLEMS[code]}.`) }
  }
}

const countLineEnds = (cell: Cell) => cell?.match(/\r\n|\r|\n/g)?.length ?? 0

/** The messages of the parser quote the file, so the response has its own. */
const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  INVALID_OPENING_QUOTE: 'a quote is inside of a cell without quotes',
  CSV_MAX_RECORD_SIZE: `it has more than ${MAX_LINE} characters`,
}

/**
 * The bytes that the parser gets at once. It queues all records of them, and a queue of streams takes time that grows with the square of
 * its length: 64 kB of empty lines would block the server for seconds.
 */
const PIECE = 1024

/** The parser reads bytes. */
function toStream(texts: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  let bytes = new Uint8Array()
  return new ReadableStream({
    async pull(controller) {
      if (bytes.byteLength === 0) {
        const { done, value } = await texts.next()
        if (done) return controller.close()
        bytes = new Uint8Array(globalThis.Buffer.from(value))
      }
      controller.enqueue(bytes.slice(0, PIECE))
      bytes = bytes.subarray(PIECE)
    },
    async cancel() {
      await texts.return()
    },
  })
}
