/** Builds the images of changed rows in SQL. */
import { sql, type SQL } from 'drizzle-orm'
import type { Field } from '../../../../schema/field'
import { type ImageOptions, isNewRow, isRemovedRow } from '../image'
import type { AssignedValues } from '../source'
import type { ChangeSet } from '../changed-rows'
import type { ChangedTable } from '../table'
import { assignedJson, encoded, isSql, wireSql } from './wire'
import { commaList, constant, value, where, type Part, type Where } from '../../../sql/where'
import { memoized } from '../../../memoized'

/** D1 accepts 32 arguments of a function. */
const MAX_ARGUMENTS = 32

export type ImageOperand = 'columns' | 'before' | 'after'

/** Whether rows of the set exist both before and after the change, so that an image contains only the changed columns. */
export const isUpdate = ({ kind, table }: Pick<ChangeSet, 'kind' | 'table'>) => !isNewRow(kind) && !isRemovedRow(kind, table)

/**
 * `json_array(json_array(json_array('title', title, json(?)), …), …)`: each column with its value before the change. If the row exists
 * before and after it, the list contains only the columns that the change assigns, with their values after it.
 * @param isWhole whether the list contains every column
 */
export function columnList(set: Pick<ChangeSet, 'kind' | 'table'>, assigned: AssignedValues, isWhole = false): Where {
  const changes = isUpdate(set)
  const fields = set.table.row.fields.filter(field => !changes || isWhole || assigned.has(field))
  return nested(fields.map((field) => {
    const stored = wireSql(field, sql`${field.column}`)
    const current = where`${sql.raw(quote(field.name))}, ${stored}`
    const after = assigned.has(field) ? assignedSql(field, assigned.get(field)) : stored
    return where`json_array(${changes ? where`${current}, ${after}` : current})`
  }))
}

/** The list of every column with its stored value. */
export const rowList = memoized((table: ChangedTable): Where => constant(columnList({ table, kind: 'create' }, new Map())))

const assignedSql = (field: Field, assigned: unknown): Part =>
  isSql(assigned) ? wireSql(field, assigned) : where`json(${value(assignedJson(field, assigned))})`

function nested(items: readonly Where[]): Where {
  const chunks = Array.from({ length: Math.ceil(items.length / MAX_ARGUMENTS) }, (_, index) =>
    where`json_array(${commaList(items.slice(index * MAX_ARGUMENTS, (index + 1) * MAX_ARGUMENTS))})`)
  return where`json_array(${commaList(chunks)})`
}

/** The type of the value at an index, because `->>` returns the same for `true` and 1, and for an array and its text. */
const typeAt = (index: number) => sql.raw(`replace(json_type(r.value, '$[${index}]'), 'real', 'integer')`)

const quote = (name: string) => `'${name.replaceAll('\'', '\'\'')}'`

/** Leaves out the values of columns: ` and r.value ->> 0 not in ('secret')`. */
export const withoutValuesSql = (names: ReadonlySet<string>) =>
  sql.raw(names.size === 0 ? '' : ` and r.value ->> 0 not in (${[...names].map(quote).join(', ')})`)

/** The id that foreign key columns contain, from a list that `columnList` built of every column. */
export function foreignIdSql(foreignKey: readonly Field[], list: SQL): SQL {
  const texts = foreignKey.map(({ name }) => sql`(select cast(r.value ->> 1 as text) from json_each(${list}) as c, json_each(c.value) as r
    where r.value ->> 0 = ${sql.raw(quote(name))})`)
  return texts.length === 1 ? texts[0]! : sql.join(texts.map(encoded), sql` || ',' || `)
}

/**
 * Reads an operand from a list that `columnList` built.
 */
export function imageSql(set: ChangeSet, operand: ImageOperand, list: SQL, { withoutValues, wholeBefore }: ImageOptions): SQL {
  const rows = sql`from json_each(${list}) as c, json_each(c.value) as r`
  const changed = isUpdate(set) ? sql` where (r.value ->> 1 is not r.value ->> 2 or ${typeAt(1)} is not ${typeAt(2)})` : sql` where true`
  if (operand === 'columns') return sql`(select json_group_array(r.value ->> 0) ${rows}${changed})`
  const isAbsent = operand === 'before' ? isNewRow(set.kind) : isRemovedRow(set.kind, set.table)
  if (isAbsent) return sql`null`
  const index = sql.raw(operand === 'after' && isUpdate(set) ? '2' : '1')
  const shown = operand === 'before' && wholeBefore ? sql` where true` : changed
  return sql`(select json_group_object(r.value ->> 0, json(r.value -> ${index})) ${rows}${shown}${withoutValuesSql(withoutValues)})`
}
