/** The SQL over entries, in SQLite. */
import { sql } from 'drizzle-orm'
import { sameBytes } from '../../../core/sql/clause'
import { isWhole, literal, type EntrySql } from './entry-sql'

export const sqliteEntries: EntrySql = {
  overlaps: (list, names) => sql`exists (select 1 from json_each(${list}) as entry_column
    where entry_column.value in (${sql.raw(names.map(literal).join(', '))}))`,
  hasId(field, text) {
    if (isWhole(field)) return sql`(${field.column} = cast(${text} as integer) and cast(cast(${text} as integer) as text) = ${text})`
    return field.kind === 'text' ? sameBytes(field.column, text, field.bytes) : undefined
  },
  // The id contains neither quotes nor backslashes, because they are encoded.
  part: (id, index) => sql`json_extract('["' || replace(${id}, ',', '","') || '"]', ${sql.raw(`'$[${index}]'`)})`,
  isPlain: text => sql`instr(${text}, '%') = 0`,
  later: (time, minutes) => sql`${time} + ${sql.raw(String(minutes * 60_000))}`,
}
