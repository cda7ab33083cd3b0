/** Finds the key of a resource: the columns that identify a row. */
import type { Kind } from '../../shared/wire'
import type { ResourceRegistration } from '../registration'
import { sourceName, type TableFacts } from './drizzle/table'

/** Kinds whose values have no text that could be an id. */
const WITHOUT_ID: ReadonlySet<Kind> = new Set(['json', 'blob'])

/**
 * Returns the primary key. If the table has none: the `key` of the registration, or the columns of a unique constraint or index. These
 * columns are NOT NULL, because the database accepts several rows with NULL. They are not hidden, because ids are in URLs and in logs.
 * @throws When no columns identify a row, or when `key` cannot.
 */
export function findKey(
  { name, key }: Pick<ResourceRegistration, 'name' | 'key'>, facts: TableFacts, hidden: ReadonlySet<string>,
): readonly string[] {
  if (key !== undefined) return declaredKey(name, [key].flat(), facts)
  if (facts.primaryKey.length > 0) return facts.primaryKey
  if (facts.view)
    throw new Error(
      `[auto-api] \`${name}\`: ${sourceName(facts)} has no primary key, so its rows have no id. Name the columns that identify a row in `
      + 'the registration: `key: \'id\'` or `key: [\'a\', \'b\']`.',
    )
  const canBeKey = (column: string) => findUnfit(column, facts) === undefined && !hidden.has(column)
  // The shortest id; the first one in the table if several have this length.
  const [unique] = facts.uniques.filter(columns => columns.every(canBeKey)).sort((a, b) => a.length - b.length)
  if (unique) return unique
  throw new Error(
    `[auto-api] \`${name}\`: table "${facts.name}" has no primary key, so its rows have no id. Declare a primary key in the table, or a `
    + 'unique constraint over columns that are NOT NULL and not hidden, or name the columns that identify a row in the registration: '
    + '`key: \'id\'` or `key: [\'a\', \'b\']`.',
  )
}

function declaredKey(name: string, key: readonly string[], facts: TableFacts): readonly string[] {
  const primaryKey = facts.primaryKey.map(column => `\`${column}\``).join(', ')
  if (primaryKey !== '')
    throw new Error(`[auto-api] \`${name}.key\` is set, but table "${facts.name}" has the primary key ${primaryKey}. Remove \`key\`.`)
  for (const column of key) {
    const unfit = findUnfit(column, facts)
    if (unfit !== undefined) throw new Error(`[auto-api] \`${name}.key\` names \`${column}\`, which ${unfit}.`)
  }
  return key
}

const IN_TABLE = 'Add `.notNull()` to the column'

/** An expression has no `notNull()`, and the column of a table has that of the table. */
const IN_VIEW = 'Declare the columns of the view, this one with `.notNull()`'

/** Returns why a column cannot identify a row, as the end of a sentence. An unknown column is reported with the other names. */
function findUnfit(name: string, { columns, view }: TableFacts): string | undefined {
  const column = columns.find(column => column.name === name)
  if (column?.nullable) return `can be NULL, so it does not identify every row. ${view ? IN_VIEW : IN_TABLE}, or name other columns`
  if (column && WITHOUT_ID.has(column.kind)) return `has values of the kind \`${column.kind}\`, which cannot be an id. Name other columns`
  return undefined
}
