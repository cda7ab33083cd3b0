/** The SQL over entries that differs between dialects. */
import type { Column, SQL } from 'drizzle-orm'
import type { Field } from '../../../../server/kit/rows'

export interface EntrySql {
  /** Whether a JSON list of texts contains one of the names. */
  readonly overlaps: (list: Column | SQL, names: readonly string[]) => SQL
  /**
   * Whether a key column has the value whose id is `text`. An index on the column serves it. Returns `undefined` for types whose id SQL
   * cannot compare.
   */
  readonly hasId: (field: Field, text: SQL) => SQL | undefined
  /** The value at an index of the id of a composite key, which joins its encoded values with `,`. */
  readonly part: (id: SQL, index: number) => SQL
  /** Whether a text contains no encoded character. */
  readonly isPlain: (text: SQL) => SQL
  /** A column in a condition that no index should serve, because other conditions select fewer rows. */
  readonly unindexed: (column: Column) => SQL
  /**
   * A parameter that does not influence the plan of the statement. Otherwise SQLite plans the statement again for each new value. For the
   * long statements about entries, planning takes longer than reading a page.
   */
  readonly unplanned: (value: SQL) => SQL
  /** The end of a subquery of EXISTS that reads one row by its key, so that it runs for each entry of the page. */
  readonly perEntry: SQL
  /** Whether subqueries in the list of columns run only for rows within the limit, whatever the plan is. An offset is no limit. */
  readonly computesLast: boolean
  /** The text after a sign, so that an empty text differs from none. */
  readonly marked: (text: SQL) => SQL
  /** A time that is some minutes later. */
  readonly later: (time: Column | SQL, minutes: number) => SQL
}

/** The ids of whole numbers, as the API returns them. */
export const WHOLE_NUMBER = '^(0|-?[1-9][0-9]{0,17})$'

export const isWhole = ({ kind }: Field) => kind === 'integer' || kind === 'bigint'

/** Writes a name of the schema as a literal. Statements have too few parameters for all columns of all resources. */
export const literal = (name: string) => `'${name.replaceAll('\\', '\\\\').replaceAll('\'', '\'\'')}'`
