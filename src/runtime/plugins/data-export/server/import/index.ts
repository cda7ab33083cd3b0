/** Imports a CSV or NDJSON file: creates or updates a record per line, all in one commit. */
import { ApiError, invalidBody, invalidQuery, invalidValue, limitExceeded, quote } from '../../../../server/kit/errors'
import { CSV_TYPE, NDJSON_TYPE } from '../formats'
import { callerKey, mediaTypeOf, nameList, type Query, type RouteRequest, singleValue } from '../../../../server/kit/request'
import type { SaveCounts, SaveRecords } from '../../../../server/kit/records'
import type { PluginResource } from '../../../../server/plugin/server'
import type { AutoApiContext } from '../../../../server/kit/call'
import { parseKeepFormulas, parseSeparator } from '../request'
import type { Slots } from '../concurrency-limit'
import { createToRecord, type CellOptions, type ToRecord } from './cells'
import { readCsv, startCsv, type Cell, type CsvStart } from './csv-reader'
import { createParseJson } from './json'
import { decodeText, readNdjson, type Line } from './lines'
import { endSlow } from './slow'

/** The media types of a file. */
export const IMPORT_TYPES = [CSV_TYPE, NDJSON_TYPE] as const

export interface ImportLimits {
  readonly maxImportRows: number
  /** Bytes. */
  readonly maxImportSize: number
  readonly maxImportValues: number
}

export interface ImportOptions extends ImportLimits {
  readonly slots: Slots
}

export interface ImportResponse {
  readonly data: SaveCounts
  readonly meta: { readonly total: number }
}

type Body = Readonly<Record<string, unknown>>

/** @throws `BULK_FAILED` with the problems of the lines, 400 for a file that has too many records or none, 413, 415, 503 `BUSY` */
export async function importFile(
  ctx: AutoApiContext, request: RouteRequest, { fields, primaryKey }: PluginResource, limits: ImportOptions, save: SaveRecords,
): Promise<ImportResponse> {
  if (request.header('if-match') !== undefined) throw invalidValue('If-Match', 'an import does not compare it.')
  const isCsv = mediaTypeOf(request.header('content-type')) === CSV_TYPE
  const { key, separator, keepFormulas } = parseImport(ctx.query, isCsv, primaryKey)
  // Not before the parameters are valid, and before the first byte is read: the records stay in memory until the commit.
  const free = limits.slots.take(callerKey(ctx, request))
  const texts = decodeText(endSlow(request.stream({ maxSize: limits.maxImportSize })))
  const parseJson = createParseJson(limits.maxImportValues)
  const options = { fields, keepFormulas, parseJson }
  const lines = isCsv ? toRecords(startCsv(texts, separator), options, limits) : readNdjson(texts, parseJson)
  const lineOf: number[] = []
  try {
    const data = await save(ctx, ctx.resource, takeRecords(lines, lineOf, limits), { key })
    return { data, meta: { total: lineOf.length } }
  }
  catch (error) {
    throw withLines(error, lineOf)
  }
  finally {
    free()
  }
}

/** Stores the line of each record in `lineOf`. @throws `LIMIT_EXCEEDED`, `INVALID_BODY` for a file without records */
async function* takeRecords(
  lines: AsyncIterable<Line<Body>>, lineOf: number[], { maxImportRows }: ImportLimits,
): AsyncGenerator<Body | ApiError, void> {
  for await (const { line, value } of lines) {
    if (lineOf.length === maxImportRows) throw limitExceeded(`The file has more than ${maxImportRows} records. Import it in parts.`)
    lineOf.push(line)
    yield value
  }
  if (lineOf.length === 0) throw invalidBody('The file contains no records.')
}

interface ImportRequest {
  /** The fields that identify existing records. Without them, all records are created. */
  readonly key: readonly string[] | undefined
  readonly separator: string
  readonly keepFormulas: boolean
}

function parseImport(query: Query, isCsv: boolean, primaryKey: readonly string[]): ImportRequest {
  const mode = singleValue(query, 'mode') ?? 'create'
  if (mode !== 'create' && mode !== 'upsert') throw invalidQuery(`\`mode\` is create or upsert, not ${quote(mode)}.`, 'mode')
  const key = nameList(query, 'key')
  if (key && mode === 'create') throw invalidQuery('`key` is only for mode=upsert.', 'key')
  if (key?.length === 0) throw invalidQuery('`key` names no field.', 'key')
  const ofCsv = ['separator', 'formulas'].find(name => query[name] !== undefined)
  if (!isCsv && ofCsv !== undefined) throw invalidQuery(`\`${ofCsv}\` is only for CSV files.`, ofCsv)
  return {
    key: mode === 'upsert' ? key ?? primaryKey : undefined,
    separator: parseSeparator(query), keepFormulas: parseKeepFormulas(query),
  }
}

/**
 * The first line is the header. An empty line stands for a record only in a file with one column.
 * @throws `INVALID_QUERY` if the header has another separator
 */
async function* toRecords(
  starting: Promise<CsvStart>, options: CellOptions, { maxImportRows }: ImportLimits,
): AsyncGenerator<Line<Body>, void> {
  const start = await starting
  let toRecord: ToRecord | undefined
  let width = 0
  let empty = 0
  for await (const { line, value } of readCsv(start)) {
    if (value instanceof ApiError) yield { line, value }
    else if (!toRecord) {
      assertSeparator(value, start.separator, options)
      const created = createToRecord(value, options)
      if (created instanceof ApiError) return yield { line, value: created }
      toRecord = created
      width = value.length
    }
    else if (width === 1 || value.length !== 1 || value[0] !== null) yield { line, value: toRecord(value, line) }
    // An empty line costs as much time as a record.
    else if (++empty > maxImportRows) throw limitExceeded(`The file has more than ${maxImportRows} empty lines. Remove them.`)
  }
}

/** A file with another separator has names that contain it, which are no fields. */
function assertSeparator(header: readonly Cell[], separator: string, { fields }: CellOptions): void {
  const other = Object.entries(SEPARATOR_NAMES).find(([other]) =>
    other !== separator && header.some(cell => cell !== null && cell.includes(other) && !fields.has(cell)))
  if (other) throw invalidQuery(`The header of the file contains ${other[1]}. Send its separator as \`separator\`.`, 'separator')
}

const SEPARATOR_NAMES: Readonly<Record<string, string>> = { ',': 'a comma', ';': '`;`', '\t': 'a tab' }

/** Names the lines of the failed records instead of their positions. */
function withLines(error: unknown, lineOf: readonly number[]): unknown {
  if (!(error instanceof ApiError) || error.data.code !== 'BULK_FAILED') return error
  const { errors } = error.data as unknown as { readonly errors: readonly { readonly index: number }[] }
  const listed = errors.slice(0, MAX_PROBLEMS).map(({ index, ...problem }) => ({ line: lineOf[index]!, ...problem }))
  const details = { errors: listed, ...errors.length > MAX_PROBLEMS && { truncated: true } }
  return Object.assign(new ApiError('BULK_FAILED', error.message, details, error.status, error.headers), { cause: error.cause })
}

/** The problems that one response lists. */
const MAX_PROBLEMS = 100
