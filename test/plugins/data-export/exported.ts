/** Requests an exported file and reads it back; CSV by two parsers that know nothing of the writer. */
import { csvParseRows } from 'd3-dsv'
import papaparse from 'papaparse'
import { expect } from 'vitest'
import { MODEL, type Kind } from '../../support/oracle/model'
import type { Caller, TestServer } from '../../support/server'

export interface Exported {
  readonly status: number
  /** The code of an error. */
  readonly code?: string
  readonly header: readonly string[]
  /** The records; of a CSV file, the cells of each line by column. */
  readonly records: readonly object[]
}

export async function exportOf(
  { fetch }: TestServer,
  resource: string,
  params: URLSearchParams,
  format: string,
  caller: Caller,
): Promise<Exported> {
  const response = await fetch(new Request(`http://localhost/api/${resource}/export?${params}&format=${format}`), caller)
  const text = await response.text()
  if (response.status !== 200) return { status: response.status, code: JSON.parse(text).data?.code, header: [], records: [] }
  return { status: 200, ...READERS[format]!(text) }
}

const READERS: Readonly<Record<string, (text: string) => Pick<Exported, 'header' | 'records'>>> = {
  json: text => ({ header: [], records: JSON.parse(text) }),
  ndjson: text => ({ header: [], records: text.split('\n').slice(0, -1).map(line => JSON.parse(line)) }),
  csv: (text) => {
    const [header, ...lines] = parseCsv(text)
    return { header: header!, records: lines.map(line => Object.fromEntries(line.map((cell, index) => [header![index], cell]))) }
  },
}

/** The rows of a file whose last line ends like the others. @throws When the parsers read different cells. */
export function parseCsv(text: string, delimiter = ','): string[][] {
  expect(text.endsWith('\r\n')).toBe(true)
  const { data, errors } = papaparse.parse<string[]>(text.slice(0, -2), { delimiter, newline: '\r\n' })
  expect(errors).toEqual([])
  if (delimiter === ',') expect(csvParseRows(text)).toEqual(data)
  return data
}

/** The cells that a record of the API stands for, by column. */
export function toCells(resource: string, record: object, header: readonly string[]): object {
  return Object.fromEntries(header.map((column) => {
    const value = column.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], record)
    return [column, toCell(value, kindOf(resource, column))]
  }))
}

/** The kind of `title` or of `author.name`. */
function kindOf(resource: string, column: string): Kind | undefined {
  const [name, ...rest] = column.split('.')
  if (name === '_count') return 'integer'
  return rest.length === 0 ? MODEL[resource]!.fields[name!] : kindOf(MODEL[resource]!.relations[name!]!.target, rest.join('.'))
}

const NUMBERS: readonly (Kind | undefined)[] = ['integer', 'real', 'bigint', 'decimal']

/** A text that begins like a formula has an apostrophe before it; a number does not. */
function toCell(value: unknown, kind: Kind | undefined): string {
  if (value === null || value === undefined) return ''
  if (kind === 'json') return JSON.stringify(value)
  return typeof value === 'string' && /^'*[=+\-@\t\r\n]/.test(value) && !NUMBERS.includes(kind) ? `'${value}` : String(value)
}
