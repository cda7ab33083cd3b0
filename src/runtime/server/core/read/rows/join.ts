/**
 * Joins to-one includes in the statement of their parents (`i0` is the alias of the first join, `c0` of its first column):
 * `select …, i0.c0, … from posts left join (select id as c0, … from users where …) as i0 on i0.c0 = posts.author_id where …`.
 *
 * A subquery selects the included rows. So column names in SQL of the app stay unambiguous, even if a table is joined with itself.
 * Query planners flatten the subquery and find the row by its key.
 */
import { sql, type SQL } from 'drizzle-orm'
import { sqlTypeOf } from '../../../drizzle/index'
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
  /** The selected columns of the included row: the columns of the response, and the key. */
  readonly columns: Selection
  /** The position of the first of these columns in a row. */
  readonly offset: number
}

/** Postgres optimizes the join order of at most eight tables. */
const MAX_JOINS = 4
/** D1 returns at most a hundred columns. */
const MAX_COLUMNS = 100

const NO_JOINS: readonly Join[] = Object.freeze([])

/** Selects the includes of a plan to join. Their columns follow the plan's own columns in each row. */
export function planJoins({ include }: Scoped<ReadPlan>, { fields }: Selection): readonly Join[] {
  if (include.length === 0) return NO_JOINS
  const joins: Join[] = []
  let from = fields.length
  for (const one of include) {
    if (joins.length === MAX_JOINS || !isJoinable(one)) continue
    const columns = includedColumns(one)
    if (from + columns.fields.length > MAX_COLUMNS) continue
    joins.push({ include: one, alias: `auto_api_${joins.length}`, columns, offset: from })
    from += columns.fields.length
  }
  return joins
}

/** A join needs a to-one relation to a primary key of the same column types, no nested includes and no `objectLevel` rule. */
function isJoinable({ relation, plan }: ScopedInclude): boolean {
  const { primaryKey } = relation.target
  return relation.kind === 'one' && plan.accepts === undefined && plan.include.length === 0
    && primaryKey.length === relation.foreignColumns.length && primaryKey.every(field => relation.foreignColumns.includes(field))
    && relation.columns.every((field, index) => sqlTypeOf(field.column) === sqlTypeOf(relation.foreignColumns[index]!.column))
}

/** Returns the columns of an include: those of the response, and the keys that match its rows with parents and nested includes. */
export function includedColumns({ relation, plan }: ScopedInclude): Selection {
  const keys = [
    ...plan.include.flatMap(({ relation }) => relation.columns),
    ...(relation.kind === 'manyToMany' ? [] : relation.foreignColumns),
  ]
  return select(plan.resource, field => plan.selection.byName.has(field.name) || keys.includes(field))
}

const scopeOf = ({ include: { plan } }: Join): readonly Clause[] => [...plan.where, ...plan.scope]

export const shapeOfJoins = (joins: readonly Join[]): Shape =>
  joins.length === 0
    ? NO_JOIN_SHAPE
    : shape`${joins.map(join => shape`${join.include.relation}${join.columns.key}${shapeOf(scopeOf(join))}`)}`

const NO_JOIN_SHAPE = shape`${[]}`

/** Returns the values of the joins. They precede the values of the WHERE clause, like their placeholders. */
export const valuesOfJoins = (joins: readonly Join[]): readonly unknown[] =>
  joins.length === 0 ? joins : joins.flatMap(join => valuesOf(scopeOf(join)))

export function joinedSelectList(joins: readonly Join[]): SQL {
  return sql.join(joins.flatMap(join => join.columns.fields.map((_, index) => sql`, ${nameOf(join, index)}`)), sql``)
}

export function joinClauses(joins: readonly Join[]): SQL {
  return sql.join(joins.map((join) => {
    const { include: { relation, plan }, alias, columns: { fields } } = join
    const selected = sql.join(fields.map((field, index) => sql`${field.selection} as ${sql.identifier(`${alias}_${index}`)}`), sql`, `)
    const conditions = relation.foreignColumns.map((field, index) =>
      sameBytes(nameOf(join, fields.indexOf(field)), relation.columns[index]!.column, field.bytes),
    )
    const rows = sql`(select ${selected} from ${plan.resource.table}${whereClause(scopeOf(join))})`
    return sql` left join ${rows} as ${sql.identifier(alias)} on ${sql.join(conditions, sql` and `)}`
  }), sql``)
}

function nameOf({ alias }: Join, index: number): SQL {
  return sql`${sql.identifier(alias)}.${sql.identifier(`${alias}_${index}`)}`
}

/** Returns the part of a row that contains the included row. */
export const joinedRow = ({ offset: from, columns }: Join, row: Row): Row => row.slice(from, from + columns.fields.length)
