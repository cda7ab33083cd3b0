/** Reads columns exactly as the database stores them, as text, so that a later statement can find out whether they have changed. */
import { sql } from 'drizzle-orm'
import type { Field } from '../../schema/field'
import type { Key } from '../../schema/record-id'
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import type { Plan, Scoped } from '../access/row-scope'
import { decoder } from './rows/decode'
import { conditions, selectList } from './rows/select'
import { inTuples } from '../sql/list/index'
import { isNull, whereClause } from '../sql/conditions'
import { statement } from '../sql/parameterize'
import { commaList, value, where, type Where } from '../sql/where'

/** The texts of the columns, in the order of the fields. NULL is null. */
export interface StoredRow {
  readonly key: Key
  readonly texts: readonly (string | null)[]
}

/** `select id, cast(cover as text) from posts where id in (?) and …`. Rows outside of the plan's scope are left out. */
export async function readStoredText(plan: Scoped<Plan>, keys: readonly Key[], fields: readonly Field[], call: Call): Promise<StoredRow[]> {
  if (keys.length === 0) return []
  const { resource } = plan
  const { engine } = call
  const encoded = keys.map(key => key.map((value, index) => resource.primaryKey[index]!.encode(value)))
  const rowsToRead = conditions({ where: [inTuples(engine, resource.primaryKey, encoded)], scope: plan.scope })
  const columns = keyFields(resource)
  const texts = commaList(fields.map(({ column }) => engine.adapter.toLongText(sql`${column}`)))
  const query = statement(call, where`select ${selectList(columns)}, ${texts} from ${resource.table}${whereClause(rowsToRead)}`)
  const count = columns.fields.length
  const decode = decoder(columns)
  const rows = await engine.query(query)
  return rows.map((row) => {
    const key = decode(row)
    const texts = row.slice(count).map(value => value === null ? null : String(value))
    return { key: resource.primaryKey.map(({ name }) => key[name]), texts }
  })
}

/** Matches the row if a column still has the text that was read. */
export function hasText(field: Field, text: string | null, { engine }: Call): Where {
  return text === null ? isNull(field) : where`${engine.adapter.toLongText(sql`${field.column}`)} = ${value(text)}`
}
