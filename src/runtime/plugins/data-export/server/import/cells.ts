/** Converts the cells of a CSV file to the JSON values of a body. */
import { type ApiError, invalidBody, quote } from '../../../../server/kit/errors'
import type { PluginField } from '../../../../server/plugin/server'
import { unguardFormula } from '../csv'
import type { Cell } from './csv-reader'
import type { ParseJson } from './json'

export interface CellOptions {
  readonly fields: ReadonlyMap<string, PluginField>
  /** Whether text keeps an apostrophe that an export could have added. */
  readonly keepFormulas: boolean
  readonly parseJson: ParseJson
}

/**
 * The columns that a file can have besides those of the table: a validation schema can know further keys. An empty cell is one byte of the
 * file, and about fifty in the memory that its record needs.
 */
const FURTHER_COLUMNS = 100

/** Converts the cells of a line to a record. */
export type ToRecord = (cells: readonly Cell[], line: number) => Readonly<Record<string, unknown>> | ApiError

/** @param header the cells of the first line @returns an error if the header does not name each column once */
export function createToRecord(header: readonly Cell[], { fields, keepFormulas, parseJson }: CellOptions): ToRecord | ApiError {
  const toText = keepFormulas ? (text: string) => text : unguardFormula
  const names = header.map(cell => cell === null ? '' : toText(cell))
  const empty = names.indexOf('')
  if (empty !== -1) return invalidBody(`Column ${empty + 1} has no name.`)
  if (names.length > fields.size + FURTHER_COLUMNS) return invalidBody('The file has too many columns.')
  const known = new Set<string>()
  // Not `indexOf`: a line of the maximum length has hundreds of thousands of names.
  const repeated = names.find(name => known.size === known.add(name).size)
  if (repeated !== undefined) return invalidBody(`The column ${quote(repeated)} is given more than once.`)
  return (cells, line) => {
    // Text that is no JSON stays text, which is a JSON value too.
    const parse = (text: string) => parseJson(text, line) ?? text
    if (cells.length !== names.length) return invalidBody(`The line has ${cells.length} cells instead of ${names.length}.`)
    const record: Record<string, unknown> = Object.create(null)
    for (const [index, name] of names.entries()) {
      const cell = cells[index]!
      const field = fields.get(name)
      if (cell !== null) record[name] = toJson(toText(cell), field, parse)
      // NULL in a column that cannot be NULL stands for its default.
      else if (!field || field.nullable) record[name] = null
      else if (!field.optional) record[name] = undefined
    }
    return record
  }
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** Text that does not fit its column stays text. Validation then reports it. */
function toJson(text: string, field: PluginField | undefined, parse: (text: string) => unknown): unknown {
  switch (field?.kind) {
    case 'number':
    case 'integer':
      return NUMBER.test(text) ? Number(text) : text
    case 'boolean':
      return BOOLEANS.get(text.toLowerCase()) ?? text
    case 'json':
      return parse(text)
    case 'custom':
      // A custom type can be an object in JSON. A type without such values does not accept the object.
      return firstAccepted(field, /^[{[]/.test(text) ? [parse(text), text] : [text, parse(text)])
    default:
      return text
  }
}

/** Spreadsheets write them in capital letters. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([['true', true], ['false', false], ['1', true], ['0', false]])

const firstAccepted = ({ accepts }: PluginField, values: readonly unknown[]) => values.find(value => accepts(value)) ?? values[0]
