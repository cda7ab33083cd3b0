/**
 * Images of rows that statements of the app change. SQL cannot know the new values before these statements run, nor the old values after
 * them. So the rows are read before the batch, a guard fails the batch if they have changed since, and the images are built at its end.
 */
import { sql, type SQL } from 'drizzle-orm'
import type { WriteStatement } from '../../../../engines/engine'
import { toId } from '../../../../schema/record-id'
import type { Call } from '../../../request/session'
import { statement, type Clause } from '../../../sql/clause'
import { inTuples } from '../../../sql/list/index'
import { shape } from '../../../sql/shape'
import { commaList } from '../../columns'
import type { Insertion } from '../changed-rows'
import type { ChangeReport } from '../report'
import { rowsWhere } from '../source'
import { rowList, withoutValuesSql, type ImageOperand } from './images'
import { insertSelected } from './insert-select'
import { idSql } from './wire'

type Key = readonly unknown[]

/** A row as it was read: `[id, tenant, columns]` as JSON. A row that does not exist has only its id. */
interface Pin {
  readonly key: Key
  readonly json: string
  readonly exists: boolean
}

/** Rows that one statement checks or inserts. */
export interface PinnedRows {
  readonly report: ChangeReport
  readonly pins: readonly Pin[]
}

const ROWS_PER_STATEMENT = 100
/** The characters of one parameter. D1 accepts 2 MB. */
const MAX_LENGTH = 400_000

/** Reads the rows that a report names. */
export async function pinRows(report: ChangeReport, call: Call): Promise<readonly PinnedRows[]> {
  const { table, keys = [] } = report
  const keysById = new Map(keys.map(key => [toId(table, key), key.map((value, at) => table.primaryKey[at]!.encode(value))]))
  const entries = [...keysById]
  const pinned: PinnedRows[] = []
  for (let start = 0; start < entries.length; start += ROWS_PER_STATEMENT) {
    const chunk = entries.slice(start, start + ROWS_PER_STATEMENT)
    const stored = new Map(await call.engine.query(readStatement(report, chunk.map(([, key]) => key), call)) as [string, string][])
    const pins = chunk.map(([id, key]): Pin => ({ key, json: stored.get(id) ?? JSON.stringify([id]), exists: stored.has(id) }))
    pinned.push(...splitByLength(pins).map(pins => ({ report, pins })))
  }
  return pinned
}

function splitByLength(pins: readonly Pin[]): readonly (readonly Pin[])[] {
  const chunks: Pin[][] = []
  let length = Infinity
  for (const pin of pins) {
    if (length + pin.json.length > MAX_LENGTH) {
      chunks.push([])
      length = 0
    }
    chunks.at(-1)!.push(pin)
    length += pin.json.length
  }
  return chunks
}

/** `select id, tenant, list from t where id in (…)` */
function storedRows({ table }: ChangeReport, keys: readonly Key[], call: Call): Clause {
  const list = rowList(table)
  const source = rowsWhere(table, [inTuples(call.engine, table.primaryKey, keys)])
  return {
    shape: shape`stored ${list.shape}${source.shape}`,
    values: [...list.values, ...source.values],
    build: () => sql`select ${commaList([
      sql`${idSql(table.primaryKey)} as id`,
      sql`${table.tenant ? table.tenant.column : sql`null`} as tenant`,
      sql`${list.build()} as list`,
    ])}${source.build()}`,
  }
}

/** JSON cannot contain bytes. */
const PIN = sql.raw(`json_array(stored.id, case when typeof(stored.tenant) <> 'blob' then stored.tenant end, json(stored.list))`)

function readStatement(report: ChangeReport, keys: readonly Key[], call: Call) {
  const rows = storedRows(report, keys, call)
  return statement(call.api.statements, call.engine, shape`pin ${rows.shape}`, rows.values, () => ({
    sql: sql`select stored.id, ${PIN} from (${rows.build()}) as stored`,
    extra: undefined,
  }))
}

const listOf = (pins: readonly Pin[]) => `[${pins.map(({ json }) => json).join(',')}]`

/** Fails the commit if a row has changed since {@link pinRows} read it. */
export function checkPinned({ report, pins }: PinnedRows, call: Call): readonly WriteStatement[] {
  const { api, engine } = call
  const [existing, missing] = [pins.filter(({ exists }) => exists), pins.filter(({ exists }) => !exists)]
  const checks: WriteStatement[] = []
  if (existing.length > 0) {
    const rows = storedRows(report, existing.map(({ key }) => key), call)
    const list = listOf(existing)
    const check = statement(api.statements, engine, shape`check pins ${rows.shape}`, [...rows.values, list], () => ({
      sql: sql`select 1 from (${rows.build()}) as stored where ${PIN} in (select value from json_each(${sql.param(list)}))`,
      extra: undefined,
    }))
    checks.push({ ...check, returnsRows: true, expectedRows: existing.length })
  }
  if (missing.length > 0) {
    const { table } = report
    const { shape: key, values, build } = rowsWhere(table, [inTuples(engine, table.primaryKey, missing.map(({ key }) => key))])
    const check = statement(api.statements, engine, shape`check missing ${key}`, values, () => ({
      sql: sql`select 1${build()}`,
      extra: undefined,
    }))
    checks.push({ ...check, returnsRows: true, expectedRows: 0 })
  }
  return checks
}

/** Inserts one row for each pinned row, with the images from before and after the statements of the app. */
export function insertPinned(insertion: Insertion, { report, pins }: PinnedRows, call: Call): WriteStatement {
  const stored = storedRows(report, pins.map(({ key }) => key), call)
  const list = listOf(pins)
  return insertSelected(insertion, {
    rows: {
      shape: shape`pinned ${stored.shape}`,
      values: [list, ...stored.values],
      build: () => sql`select pin.value ->> 0 as id, coalesce(stored.tenant, pin.value ->> 1) as tenant, pin.value ->> 2 as old,
        stored.list as new from json_each(${sql.param(list)}) as pin
        left join (${stored.build()}) as stored on stored.id = pin.value ->> 0`,
    },
    image: operand => pinnedImage(operand, insertion.target.withoutValues),
    list: sql.raw('coalesce(changed.new, changed.old)'),
  }, call)
}

/** The place of a column's value in both lists. */
const PLACE = `('$[' || c.key || '][' || r.key || '][1]')`

/** Compares the lists of columns from before and after the change. A row that existed only once has every column. */
function pinnedImage(operand: ImageOperand, withoutValues: ReadonlySet<string>): SQL {
  const rows = `from json_each(coalesce(changed.new, changed.old)) as c, json_each(c.value) as r
    where (changed.old is null or changed.new is null or (changed.old -> ${PLACE}) is not (changed.new -> ${PLACE}))`
  if (operand === 'columns') return sql.raw(`(select json_group_array(r.value ->> 0) ${rows})`)
  const list = operand === 'before' ? 'changed.old' : 'changed.new'
  const values = sql.raw(`case when ${list} is not null then (select json_group_object(r.value ->> 0, json(${list} -> ${PLACE})) ${rows}`)
  return sql`${values}${withoutValuesSql(withoutValues)}) end`
}
