/** The SQL over entries, in SQLite. */
import { sql } from 'drizzle-orm'
import { isWhole, literal, type EntrySql } from './entry-sql'
import { sameBytes } from '../../../../server/kit/where'

/** A longer chain of conditions has more nesting levels than D1 accepts. */
const MAX_CHAIN = 32

export const sqliteEntries: EntrySql = {
  overlaps(list, names) {
    // The text `"name"` is an item of the list: inside of an item, JSON writes a quote as `\"`. The search is faster than `json_each`.
    // A `case` ends at the first name. Of an `or`, SQLite computes every part.
    if (names.length <= MAX_CHAIN && names.every(name => /^\w+$/.test(name)))
      return sql`case ${sql.join(names.map(name => sql`when instr(${list}, ${sql.raw(`'"${name}"'`)}) then 1`), sql` `)} else 0 end`
    return sql`exists (select 1 from json_each(${list}) as entry_column
      where entry_column.value in (${sql.raw(names.map(literal).join(', '))}))`
  },
  hasId(field, text) {
    if (isWhole(field)) return sql`(${field.column} = cast(${text} as integer) and cast(cast(${text} as integer) as text) = ${text})`
    return field.kind === 'text' ? sameBytes(field.column, text, field.bytes) : undefined
  },
  // The id contains neither quotes nor backslashes, because they are encoded.
  part: (id, index) => sql`json_extract('["' || replace(${id}, ',', '","') || '"]', ${sql.raw(`'$[${index}]'`)})`,
  isPlain: text => sql`instr(${text}, '%') = 0`,
  // The sign keeps SQLite from using an index on the column.
  unindexed: column => sql`+${column}`,
  unplanned: value => sql`(select ${value})`,
  perEntry: sql``,
  computesLast: true,
  marked: text => sql`'=' || ${text}`,
  later: (time, minutes) => sql`${time} + ${sql.raw(String(minutes * 60_000))}`,
}
