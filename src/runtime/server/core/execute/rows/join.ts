/**
 * To-one includes read in their parents' own statement:
 * `select …, i0.c0, … from posts left join (select id as c0, … from users where …) as i0 on i0.c0 = posts.author_id where …`.
 *
 * The included rows stand in a query of their own, so that a condition an app wrote in SQL means the same columns as ever,
 * also where a table is joined with itself; planners look through it and find the row by its key.
 */
import { sql, type SQL } from 'drizzle-orm'
import type { Row } from '../../../engines/engine'
import { shape, type Shape } from '../../sql/shape'
import { select, type Selection } from '../../access/fields'
import type { ReadPlan } from '../../plan/read-plan'
import { sameBytes, shapeOf, valuesOf, whereClause, type Clause } from '../../sql/clause'
import type { Scoped } from '../../access/row-scope'

export type ScopedInclude = Scoped<ReadPlan>['include'][number]

export interface Join {
  readonly include: ScopedInclude
  readonly alias: string
  /** What is selected of the included row: what is shown of it, and its key. */
  readonly columns: Selection
  /** Where these columns begin in a row. */
  readonly offset: number
}

/** Postgres looks for the best order of eight tables, no more; D1 answers a hundred columns. */
const JOINS_AT_MOST = 4
const COLUMNS_AT_MOST = 100

/** Which includes of a plan are read along with its rows, behind these columns of their own. */
export function planJoins({ include }: Scoped<ReadPlan>, { fields }: Selection): readonly Join[] {
  const joins: Join[] = []
  let from = fields.length
  for (const one of include) {
    if (joins.length === JOINS_AT_MOST || !isJoinable(one)) continue
    const columns = includedColumns(one)
    if (from + columns.fields.length > COLUMNS_AT_MOST) continue
    joins.push({ include: one, alias: `auto_api_${joins.length}`, columns, offset: from })
    from += columns.fields.length
  }
  return joins
}

/** One row at most, which SQL alone can judge, found by the key of its table as it stands in the parent. */
function isJoinable({ relation, plan }: ScopedInclude): boolean {
  const { primaryKey } = relation.target
  return relation.kind === 'one' && plan.accepts === undefined && plan.include.length === 0
    && primaryKey.length === relation.foreignColumns.length && primaryKey.every(field => relation.foreignColumns.includes(field))
    && relation.columns.every((field, index) => field.column.getSQLType() === relation.foreignColumns[index]!.column.getSQLType())
}

/** What an include shows, and the keys that it and what hangs on it are found by. */
export function includedColumns({ relation, plan }: ScopedInclude): Selection {
  const keys = [
    ...plan.include.flatMap(({ relation }) => relation.columns),
    ...(relation.kind === 'manyToMany' ? [] : relation.foreignColumns),
  ]
  return select(plan.resource, field => plan.selection.byName.has(field.name) || keys.includes(field))
}

const scopeOf = ({ include: { plan } }: Join): readonly Clause[] => [...plan.where, ...plan.scope]

export const shapeOfJoins = (joins: readonly Join[]): Shape =>
  shape`${joins.map(join => shape`${join.include.relation}${join.columns.key}${shapeOf(scopeOf(join))}`)}`

/** In the order of their places: joins stand before any other condition. */
export const valuesOfJoins = (joins: readonly Join[]) => joins.flatMap(join => valuesOf(scopeOf(join)))

export function joinedSelectList(joins: readonly Join[]): SQL {
  return sql.join(joins.flatMap(join => join.columns.fields.map((_, index) => sql`, ${nameOf(join, index)}`)), sql``)
}

export function joinClauses(joins: readonly Join[]): SQL {
  return sql.join(joins.map((join) => {
    const { include: { relation, plan }, alias, columns: { fields } } = join
    const selected = sql.join(fields.map((field, index) => sql`${field.selection} as ${sql.identifier(`${alias}_${index}`)}`), sql`, `)
    const meets = relation.foreignColumns.map((field, index) =>
      sameBytes(nameOf(join, fields.indexOf(field)), relation.columns[index]!.column, field.bytes),
    )
    return sql` left join (select ${selected} from ${plan.resource.table}${whereClause(scopeOf(join))}) as ${sql.identifier(alias)} on ${sql.join(meets, sql` and `)}`
  }), sql``)
}

function nameOf({ alias }: Join, index: number): SQL {
  return sql`${sql.identifier(alias)}.${sql.identifier(`${alias}_${index}`)}`
}

/** The included row's own part of a row. */
export const joinedRow = ({ offset: from, columns }: Join, row: Row): Row => row.slice(from, from + columns.fields.length)
