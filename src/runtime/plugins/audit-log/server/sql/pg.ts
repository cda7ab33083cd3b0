/** The SQL over entries, in Postgres. */
import { sql, type SQL } from 'drizzle-orm'
import { sameBytes, sqlTypeOf } from '../../../../server/kit/where'
import { isWhole, literal, WHOLE_NUMBER, type EntrySql } from './entry-sql'

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/** Postgres can evaluate conditions in any order, and a cast of another text would fail. CASE evaluates its condition first. */
const castIf = (text: SQL, pattern: string, type: string) =>
  sql`case when ${text} ~ ${sql.raw(`'${pattern}'`)} then cast(${text} as ${sql.raw(type)}) end`

export const pgEntries: EntrySql = {
  overlaps: (list, names) => sql`jsonb_exists_any(cast(${list} as jsonb), array[${sql.raw(names.map(literal).join(', '))}])`,
  hasId(field, text) {
    if (isWhole(field)) return sql`${field.column} = ${castIf(text, WHOLE_NUMBER, 'bigint')}`
    if (field.kind !== 'text') return undefined
    if (sqlTypeOf(field.column) === 'uuid') return sql`${field.column} = ${castIf(text, UUID, 'uuid')}`
    return sameBytes(field.column, sql`cast(${text} as text) collate "default"`, field.bytes)
  },
  part: (id, index) => sql`split_part(${id}, ',', ${sql.raw(String(index + 1))})`,
  isPlain: text => sql`position('%' in ${text}) = 0`,
  unindexed: column => sql`${column}`,
  unplanned: value => value,
  // Without it, Postgres reads the keys of all rows that the reader can see, and looks up the entries in this list.
  perEntry: sql` offset 0`,
  computesLast: true,
  marked: text => sql`'=' || ${text}`,
  later: (time, minutes) => sql`${time} + interval ${sql.raw(`'${minutes} minutes'`)}`,
}
