/** Reads columns exactly as the database stores them, as text, so that a later statement can find out whether they have changed. */
import { sql } from 'drizzle-orm'
import type { Field } from '../../schema/field'
import type { Key } from '../../schema/record-id'
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import type { Plan, Scoped } from '../access/row-scope'
import { decoder } from './rows/decode'
import { conditions, selectList } from './rows/select'
import { isNull, shapeOf, statement, valuesOf, whereClause, type Clause } from '../sql/clause'
import { inTuples } from '../sql/list/index'
import { shape } from '../sql/shape'

/** The texts of the columns, in the order of the fields. NULL is null. */
export interface StoredRow {
  readonly key: Key
  readonly texts: readonly (string | null)[]
}

/** `select id, cast(cover as text) from posts where id in (?) and …`. Rows outside of the plan's scope are left out. */
export async function readStoredText(plan: Scoped<Plan>, keys: readonly Key[], fields: readonly Field[], call: Call): Promise<StoredRow[]> {
  if (keys.length === 0) return []
  const { resource } = plan
  const { engine, api } = call
  const encoded = keys.map(key => key.map((value, index) => resource.primaryKey[index]!.encode(value)))
  const where = conditions({ where: [inTuples(engine, resource.primaryKey, encoded)], scope: plan.scope })
  const columns = keyFields(resource)
  const shapeOfQuery = shape`stored ${fields.map(({ column }) => column)} of ${resource}${shapeOf(where)}`
  const query = statement(api.statements, engine, shapeOfQuery, valuesOf(where), () => {
    const texts = sql.join(fields.map(({ column }) => engine.adapter.toLongText(sql`${column}`)), sql`, `)
    return { sql: sql`select ${selectList(columns)}, ${texts} from ${resource.table}${whereClause(where)}`, extra: undefined }
  })
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
export function hasText(field: Field, text: string | null, { engine }: Call): Clause {
  const { column } = field
  if (text === null) return isNull(field)
  const stored = () => engine.adapter.toLongText(sql`${column}`)
  return { shape: shape`${column} text=`, values: [text], build: () => sql`${stored()} = ${sql.param(text)}` }
}
