/** Writes the rule of a permission for rows as the Drizzle condition of a `listFilter`. */
import type { Rule } from './snapshot'

export interface Rows {
  /** The code of the condition, such as `eq(table.status, 'published')`. */
  readonly code: string
  /** Functions of `drizzle-orm` that the code uses. */
  readonly imports: readonly string[]
}

/** A part of a rule that has no counterpart. The policy then gives no rows at all, so that nobody sees more than in Directus. */
export class NotCarried extends Error {}

/** What the rule can refer to. */
export interface Columns {
  /** Returns the code of a column, or undefined for a field without a column. */
  readonly columnOf: (field: string) => string | undefined
  /** Returns the primary key of the table that the field refers to. */
  readonly keyOf: (field: string) => string | undefined
}

/** The value is code. The conditions of SQL that are not true for NULL are those of Directus too. */
const OPERATORS: Readonly<Record<string, (column: string, value: unknown) => Rows>> = {
  _eq: (column, value) => value === null ? call('isNull', column) : call('eq', column, toCode(value)),
  _neq: (column, value) => value === null ? call('isNotNull', column) : call('ne', column, toCode(value)),
  _lt: (column, value) => call('lt', column, toCode(value)),
  _lte: (column, value) => call('lte', column, toCode(value)),
  _gt: (column, value) => call('gt', column, toCode(value)),
  _gte: (column, value) => call('gte', column, toCode(value)),
  _in: (column, value) => call('inArray', column, toList(value)),
  _nin: (column, value) => call('notInArray', column, toList(value)),
  _null: (column, value) => call(value === false ? 'isNotNull' : 'isNull', column),
  _nnull: (column, value) => call(value === false ? 'isNull' : 'isNotNull', column),
  _between: (column, value) => call('between', column, ...toPair(value)),
  _contains: (column, value) => call('like', column, toPattern(value, '%', '%')),
  _starts_with: (column, value) => call('like', column, toPattern(value, '', '%')),
  _ends_with: (column, value) => call('like', column, toPattern(value, '%', '')),
}

/** @throws NotCarried if the rule uses anything that has no counterpart */
export function toRows(rule: Rule, columns: Columns): Rows | undefined {
  const parts = Object.entries(rule).map(([key, value]): Rows | undefined => {
    if (key === '_and' || key === '_or') {
      if (!Array.isArray(value)) throw new NotCarried(`\`${key}\` without a list`)
      const all = value.map(part => toRows(toRule(part), columns))
      // Directus ignores a part without a condition. As SQL it would be true, and `or` of nothing would be no condition at all.
      if (key === '_or' && (all.length === 0 || all.includes(undefined))) throw new NotCarried('`_or` with an empty part')
      return combine(key === '_and' ? 'and' : 'or', all.filter(part => part !== undefined))
    }
    return ofField(key, toRule(value), columns)
  })
  return combine('and', parts.filter(part => part !== undefined))
}

/** `{ status: 'draft' }` and `{ status: {} }` have no operator. They must not become a condition that every row meets. */
function toRule(value: unknown): Rule {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Rule
  throw new NotCarried(`the condition \`${JSON.stringify(value)}\``)
}

function ofField(field: string, rule: Rule, columns: Columns): Rows {
  const column = columns.columnOf(field)
  if (column === undefined) throw new NotCarried(`\`${field}\` has no column in this table`)
  const parts = Object.entries(rule).flatMap(([key, value]) => {
    const write = OPERATORS[key]
    if (write) return [forCaller(write(column, value))]
    // `{ author: { id: { _eq: 7 } } }` compares the column itself.
    if (!key.startsWith('_') && key === columns.keyOf(field)) return [ofField(field, toRule(value), columns)]
    throw new NotCarried(key.startsWith('_') ? `\`${key}\` of \`${field}\`` : `a rule on \`${field}.${key}\`, which is in another table`)
  })
  const all = combine('and', parts)
  if (!all) throw new NotCarried(`\`${field}\` without an operator`)
  return all
}

/** An anonymous caller has no id, and a comparison with it is never true. */
const forCaller = ({ code, imports }: Rows): Rows =>
  code.includes('ctx.user.id') ? { code: `(ctx.user ? ${code} : nobody)`, imports } : { code, imports }

export function combine(name: 'and' | 'or', parts: readonly Rows[]): Rows | undefined {
  if (parts.length < 2) return parts[0]
  return { code: `${name}(${parts.map(({ code }) => code).join(', ')})!`, imports: [name, ...parts.flatMap(({ imports }) => imports)] }
}

const call = (name: string, ...args: readonly string[]): Rows => ({ code: `${name}(${args.join(', ')})`, imports: [name] })

function toCode(value: unknown): string {
  if (value === '$CURRENT_USER') return 'ctx.user.id'
  if (value === '$NOW') return 'new Date()'
  if (typeof value === 'string' && value.startsWith('$')) throw new NotCarried(`the value \`${value}\``)
  if (typeof value === 'object' && value !== null) throw new NotCarried(`the value \`${JSON.stringify(value)}\``)
  return typeof value === 'string' ? quote(value) : JSON.stringify(value)
}

function toList(value: unknown): string {
  const values = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(values)) throw new NotCarried(`the list \`${JSON.stringify(value)}\``)
  return `[${values.map(toCode).join(', ')}]`
}

function toPair(value: unknown): string[] {
  if (!Array.isArray(value) || value.length !== 2) throw new NotCarried(`the range \`${JSON.stringify(value)}\``)
  return value.map(toCode)
}

function toPattern(value: unknown, before: string, after: string): string {
  if (typeof value !== 'string' || /[$%_\\]/.test(value)) throw new NotCarried(`the text \`${JSON.stringify(value)}\``)
  return quote(`${before}${value}${after}`)
}

export const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll('\'', '\\\'').replaceAll('\n', '\\n')}'`
