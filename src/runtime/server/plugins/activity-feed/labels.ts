/** Reads the labels of records and actors that the reader can see. One statement for all resources. */
import { sql, type SQL } from 'drizzle-orm'
import type { Session } from '../../core/context'
import { fromClauses, fromSql, joinAnd, shapeOf, statement, valuesOf, type Clause } from '../../core/sql/clause'
import { inTuples } from '../../core/sql/list/index'
import { shape } from '../../core/sql/shape'
import { toKey } from '../../schema/record-id'
import { readerAccess, type ResourceAccess } from '../audit-log/access'
import type { AuditLog } from '../audit-log/log'
import { isJudged, recordFinder } from '../audit-log/records'

/** Records of a resource, and the field with their label. */
export interface LabelRequest {
  readonly resource: string
  readonly field: string
  readonly ids: readonly string[]
}

/** The labels by id. A record that the reader cannot see is absent. A label that the reader cannot read is `null`. */
export type Labels = ReadonlyMap<string, string | null>

/** @returns the labels of each request, in order */
export async function readLabels(session: Session, log: AuditLog, requests: readonly LabelRequest[]): Promise<readonly Labels[]> {
  const { resources } = await readerAccess(session, log)
  const labels = requests.map(() => new Map<string, string | null>())
  const parts = requests.flatMap(({ resource, field, ids }, index): Part[] => {
    const access = resources.get(resource)
    return access?.canRead && ids.length > 0 ? [{ access, field, ids, labels: labels[index]! }] : []
  })
  await Promise.all(parts.filter(({ access }) => isJudged(access)).map(part => addJudged(session, part)))
  await addFound(session, parts.filter(({ access }) => !isJudged(access)))
  return labels
}

interface Part {
  readonly access: ResourceAccess
  readonly field: string
  readonly ids: readonly string[]
  readonly labels: Map<string, string | null>
}

async function addFound({ api, engine }: Session, parts: readonly Part[]): Promise<void> {
  if (parts.length === 0) return
  const width = Math.max(...parts.map(({ access }) => access.call.resource.primaryKey.length))
  const selects = await Promise.all(parts.map((part, index) => selectLabels(part, index, width)))
  const found = await engine.query(statement(api.statements, engine, shape`labels ${shapeOf(selects)}`, valuesOf(selects), () =>
    ({ sql: unionAll(selects.map(({ build }) => build())), extra: undefined })))
  for (const [index, label, ...key] of found) {
    const { access: { call: { resource: { primaryKey } } }, labels } = parts[Number(index)]!
    const texts = key.slice(0, primaryKey.length).map(String)
    labels.set(texts.length === 1 ? texts[0]! : texts.map(encodeURIComponent).join(','), label === null ? null : String(label))
  }
}

/** D1 accepts five selects in a union. */
const MAX_UNION = 5

/** `select … union all select …`. Longer unions are nested: `select * from (select … union all select …) as labels union all …`. */
function unionAll(selects: readonly SQL[]): SQL {
  if (selects.length <= MAX_UNION) return sql.join([...selects], sql` union all `)
  let size = MAX_UNION
  while (size * MAX_UNION < selects.length) size *= MAX_UNION
  const parts = Array.from({ length: Math.ceil(selects.length / size) }, (_, index) => selects.slice(index * size, (index + 1) * size))
  return unionAll(parts.map(part => sql`select * from (${unionAll(part)}) as labels`))
}

/** `select 0, cast(title as text), cast(id as text), null from posts where id in (…) and …` */
async function selectLabels({ access: { call, shown, scope }, field, ids }: Part, index: number, width: number): Promise<Clause> {
  const { resource, engine } = call
  const { primaryKey, fields, table } = resource
  const keys = ids.flatMap((id) => {
    const key = toKey(resource, id)
    return key ? [key.map((value, at) => primaryKey[at]!.encode(value))] : []
  })
  const label = shown.has(field) ? fields.get(field)! : undefined
  const where = [inTuples(engine, primaryKey, keys), fromSql(engine, await scope())]
  return fromClauses(shape`label ${index}${width}${resource}${label ? [label.column] : []}`, where, () => {
    const { toText } = engine.adapter
    const columns = [label, ...Array.from({ length: width }, (_, at) => primaryKey[at])]
    const texts = columns.map((column, at) => sql`${toText(column ? sql`${column.column}` : sql`null`)} as ${sql.identifier(`text${at}`)}`)
    return sql`select ${sql.raw(String(index))} as request, ${sql.join(texts, sql`, `)} from ${table} where ${joinAnd(where)}`
  })
}

/** Rules in code judge these records. A check of the entries has loaded them already, except the actors. */
async function addJudged(session: Session, { access, field, ids, labels }: Part): Promise<void> {
  const find = recordFinder(session, access)
  const records = await Promise.all(ids.map(async id => [id, await find(id)] as const))
  for (const [id, record] of records) {
    if (!record) continue
    const label = access.shown.has(field) ? record[field] : null
    labels.set(id, typeof label === 'string' ? label : null)
  }
}
