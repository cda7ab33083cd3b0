/** Parses the parameters of an export that the list does not have. */
import { invalidQuery, quote } from '../../../server/kit/errors'
import { flag, type Query, singleValue } from '../../../server/kit/request'
import type { Format } from './formats'

export interface ExportRequest {
  readonly format: Format
  readonly bom: boolean
  readonly separator: string
  readonly keepFormulas: boolean
  /** The parameters of the list. */
  readonly query: Query
}

const SEPARATORS: Readonly<Record<string, string>> = { ',': ',', ';': ';', '\t': '\t', 'tab': '\t' }
const OF_CSV = ['bom', 'separator', 'formulas'] as const

export interface FormatPreference {
  /** The format of a request that names none. */
  readonly format: Format
  /** Whether the request cannot name another format. */
  readonly fixed?: boolean
}

/** @throws `INVALID_QUERY` */
export function parseExport(query: Query, formats: readonly Format[], preference: FormatPreference): ExportRequest {
  const { format: preferred, fixed = false } = preference
  const { format: _, bom: __, separator: ___, formulas: ____, ...listQuery } = query
  const format = toFormat(singleValue(query, 'format') ?? preferred, formats)
  if (fixed && format !== preferred) throw invalidQuery('`format` contradicts the header `Accept`.', 'format')
  const ofCsv = OF_CSV.find(name => query[name] !== undefined)
  if (format !== 'csv' && ofCsv !== undefined) throw invalidQuery(`\`${ofCsv}\` is only for CSV files.`, ofCsv)
  return {
    format, bom: flag(query, 'bom'), separator: parseSeparator(query), keepFormulas: parseKeepFormulas(query), query: listQuery,
  }
}

function toFormat(text: string, formats: readonly Format[]): Format {
  const format = formats.find(format => format === text)
  if (format === undefined) throw invalidQuery(`\`format\` is one of ${formats.join(', ')}, not ${quote(text)}.`, 'format')
  return format
}

/** @throws `INVALID_QUERY` */
export function parseSeparator(query: Query): string {
  const text = singleValue(query, 'separator') ?? ','
  if (!Object.hasOwn(SEPARATORS, text)) throw invalidQuery(`\`separator\` is a comma, \`;\` or \`tab\`, not ${quote(text)}.`, 'separator')
  return SEPARATORS[text]!
}

/** @throws `INVALID_QUERY` */
export function parseKeepFormulas(query: Query): boolean {
  const text = singleValue(query, 'formulas')
  if (text !== undefined && text !== 'keep') throw invalidQuery(`\`formulas\` is keep, not ${quote(text)}.`, 'formulas')
  return text === 'keep'
}
