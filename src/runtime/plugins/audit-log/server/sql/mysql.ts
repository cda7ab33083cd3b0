/** The SQL over entries, in MySQL and MariaDB. */
import { sql } from 'drizzle-orm'
import { isWhole, literal, WHOLE_NUMBER, type EntrySql } from './entry-sql'
import { sameBytes } from '../../../../server/kit/where'

export const mysqlEntries: EntrySql = {
  overlaps: (list, names) =>
    sql`(${sql.join(names.map(name => sql`json_contains(${list}, ${sql.raw(literal(JSON.stringify(name)))})`), sql` or `)})`,
  hasId(field, text) {
    if (isWhole(field)) return sql`(${field.column} = cast(${text} as signed) and ${text} regexp ${sql.raw(`'${WHOLE_NUMBER}'`)})`
    return field.kind === 'text' ? sameBytes(field.column, sql`${text} collate utf8mb4_bin`, field.bytes) : undefined
  },
  part: (id, index) => sql`substring_index(substring_index(${id}, ',', ${sql.raw(String(index + 1))}), ',', -1)`,
  isPlain: text => sql`instr(${text}, '%') = 0`,
  unindexed: column => sql`${column}`,
  unplanned: value => value,
  perEntry: sql``,
  computesLast: false,
  marked: text => sql`concat('=', ${text})`,
  later: (time, minutes) => sql`${time} + interval ${sql.raw(String(minutes))} minute`,
}
