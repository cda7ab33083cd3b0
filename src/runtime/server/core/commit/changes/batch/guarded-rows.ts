/**
 * Images of rows that statements of the app change. SQL cannot know the new values before these statements run, nor the old values after
 * them. So the rows are read before the batch, a guard fails the batch if they have changed since, and the images are built at its end.
 */
import { sql, type SQL } from 'drizzle-orm'
import type { WriteStatement } from '../../../../engines/engine'
import { toId } from '../../../../schema/record-id'
import type { Call } from '../../../request/session'
import { inTuples } from '../../../sql/list/index'
import type { Insertion } from '../changed-rows'
import type { ChangeReport } from '../report'
import { rowsWhere } from '../source'
import type { ImageOptions } from '../image'
import { rowList, withoutValuesSql, type ImageOperand } from './images'
import { identityAnd, insertSelected } from './insert-select'
import { statement } from '../../../sql/parameterize'
import { value, where, type Where } from '../../../sql/where'

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
function storedRows({ table }: ChangeReport, keys: readonly Key[], call: Call): Where {
  const { from } = rowsWhere(table, [inTuples(call.engine, table.primaryKey, keys)])
  return where`select ${identityAnd(table, rowList(table))}${from}`
}

/** JSON cannot contain bytes. */
const PIN = sql.raw(`json_array(stored.id, case when typeof(stored.tenant) <> 'blob' then stored.tenant end, json(stored.list))`)

const readStatement = (report: ChangeReport, keys: readonly Key[], call: Call) =>
  statement(call, where`select stored.id, ${PIN} from (${storedRows(report, keys, call)}) as stored`)

const listOf = (pins: readonly Pin[]) => `[${pins.map(({ json }) => json).join(',')}]`

/** Fails the commit if a row has changed since {@link pinRows} read it. */
export function checkPinned({ report, pins }: PinnedRows, call: Call): readonly WriteStatement[] {
  const [existing, missing] = [pins.filter(({ exists }) => exists), pins.filter(({ exists }) => !exists)]
  const checks: WriteStatement[] = []
  if (existing.length > 0) {
    const rows = storedRows(report, existing.map(({ key }) => key), call)
    const isSame = where`${PIN} in (select value from json_each(${value(listOf(existing))}))`
    const check = statement(call, where`select 1 from (${rows}) as stored where ${isSame}`)
    checks.push({ ...check, returnsRows: true, expectedRows: existing.length })
  }
  if (missing.length > 0) {
    const { table } = report
    const { from } = rowsWhere(table, [inTuples(call.engine, table.primaryKey, missing.map(({ key }) => key))])
    checks.push({ ...statement(call, where`select 1${from}`), returnsRows: true, expectedRows: 0 })
  }
  return checks
}

/** Inserts one row for each pinned row, with the images from before and after the statements of the app. */
export function insertPinned(insertion: Insertion, { report, pins }: PinnedRows, call: Call): WriteStatement {
  const stored = storedRows(report, pins.map(({ key }) => key), call)
  return insertSelected(insertion, {
    rows: where`select pin.value ->> 0 as id, coalesce(stored.tenant, pin.value ->> 1) as tenant, pin.value ->> 2 as old,
      stored.list as new from json_each(${value(listOf(pins))}) as pin
      left join (${stored}) as stored on stored.id = pin.value ->> 0`,
    image: operand => pinnedImage(operand, insertion.target),
    list: sql.raw('coalesce(changed.new, changed.old)'),
  }, call)
}

/** The place of a column's value in both lists. */
const PLACE = `('$[' || c.key || '][' || r.key || '][1]')`

/** Compares the lists of columns from before and after the change. A row that existed only once has every column. */
function pinnedImage(operand: ImageOperand, { withoutValues, wholeBefore }: ImageOptions): SQL {
  const isWhole = operand === 'before' && wholeBefore
  const isChanged = `changed.old is null or changed.new is null or (changed.old -> ${PLACE}) is not (changed.new -> ${PLACE})`
  const rows = `from json_each(coalesce(changed.new, changed.old)) as c, json_each(c.value) as r where (${isWhole ? 'true' : isChanged})`
  if (operand === 'columns') return sql.raw(`(select json_group_array(r.value ->> 0) ${rows})`)
  const list = operand === 'before' ? 'changed.old' : 'changed.new'
  const values = sql.raw(`case when ${list} is not null then (select json_group_object(r.value ->> 0, json(${list} -> ${PLACE})) ${rows}`)
  return sql`${values}${withoutValuesSql(withoutValues)}) end`
}
