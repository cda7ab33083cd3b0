/** Writes records as CSV (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe. */
import { invalidQuery, quote } from '../../../server/kit/errors'
import type { ScannedColumn, ScannedColumns, ScannedRecord } from '../../../server/kit/records'

type Kind = ScannedColumn['kind']

export interface CsvOptions {
  readonly separator: string
  /** Whether text that begins like a formula stays as it is. */
  readonly keepFormulas: boolean
}

/** The columns of a file, and the function that writes one line of it. */
export interface CsvWriter {
  /** The first line. */
  readonly header: string
  readonly line: (record: ScannedRecord) => string
}

/** Ends each line. */
const END = '\r\n'

/**
 * The columns of an included record follow those of the record that includes it, under `relation.column`.
 * @throws `INVALID_QUERY` for a relation that contains a list, because a line has one cell for each column.
 */
export function createCsvWriter(columns: ScannedColumns, options: CsvOptions): CsvWriter {
  const { separator } = options
  const toCell = createToCell(options)
  const cells = cellsOf(columns, toCell)
  return {
    header: cells.map(({ name }) => toCell.text(name)).join(separator) + END,
    line(record) {
      let line = ''
      for (const [index, { read }] of cells.entries()) line += index === 0 ? read(record) : separator + read(record)
      return line + END
    },
  }
}

/** One column of the file. */
interface Cell {
  readonly name: string
  /** Returns the cell of a record; `undefined` stands for an included record that does not exist. */
  readonly read: (record: ScannedRecord | undefined | null) => string
}

function cellsOf({ fields, relations }: ScannedColumns, toCell: ToCell): Cell[] {
  const list = relations.find(({ isList }) => isList)
  if (list)
    throw invalidQuery(
      `\`include\`: a CSV file has one line per record, so it cannot contain the list ${quote(list.name)}. Use JSON or NDJSON.`,
      'include',
    )
  return [
    ...fields.map(({ name, kind }): Cell => {
      const write = toCell.of(kind)
      return { name, read: record => write(record?.[name]) }
    }),
    ...relations.flatMap(relation => cellsOf(relation.columns, toCell).map(({ name, read }): Cell => ({
      name: `${relation.name}.${name}`,
      read: record => read(record?.[relation.name] as ScannedRecord | null | undefined),
    }))),
  ]
}

interface ToCell {
  readonly text: (text: string) => string
  /** Returns the function that writes the JSON values of a kind. */
  readonly of: (kind: Kind) => (value: unknown) => string
}

function createToCell({ separator, keepFormulas }: CsvOptions): ToCell {
  const special = new RegExp(`[${separator}"\r\n]`)
  const quoteCell = (text: string) => special.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const text = (text: string) => text === '' ? '""' : quoteCell(keepFormulas ? text : guardFormula(text))
  const json = (value: unknown) => value === null || value === undefined ? '' : quoteCell(JSON.stringify(value))
  const others = (value: unknown) => typeof value === 'string' ? text(value) : typeof value === 'number' ? toNumberText(value) : json(value)
  const numbers = (value: unknown) => typeof value === 'string' && NUMBER.test(value) ? value : others(value)
  return { text, of: kind => kind === 'json' ? json : NUMBERS.has(kind) ? numbers : others }
}

/** The kinds of numbers. Large ones are strings in JSON. A hook can also replace a number with any text. */
const NUMBERS: ReadonlySet<Kind> = new Set<Kind>(['number', 'integer', 'bigint', 'decimal'])
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** JSON has neither infinity nor NaN. */
const toNumberText = (value: number) => Number.isFinite(value) ? String(value) : ''

/** A text that a spreadsheet would run, after any apostrophes of a guard. In East Asian languages, it also runs the wide signs. */
const FORMULA = /^'*[=+\-@\0\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * Prepends an apostrophe, which makes a spreadsheet take the cell as text. A text that looks guarded already gets one more, so that
 * {@link unguardFormula} returns every text unchanged.
 */
function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Removes the apostrophe that an export has added. */
export function unguardFormula(text: string): string {
  return text.startsWith('\'') && FORMULA.test(text) ? text.slice(1) : text
}
