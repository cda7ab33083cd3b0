/**
 * Joins to-one includes in the statement of their parents (`i0` is the alias of the first join, `c0` of its first column):
 * `select …, i0.c0, … from posts left join (select id as c0, … from users where …) as i0 on i0.c0 = posts.author_id where …`.
 *
 * A subquery selects the included rows. So column names in SQL of the app stay unambiguous, even if a table is joined with itself.
 * Query planners flatten the subquery and find the row by its key.
 */
import { sql } from 'drizzle-orm'
import { sqlTypeOf } from '../../../drizzle/index'
import type { Row } from '../../../engines/engine'
import { select, type Selection } from '../../access/fields'
import type { ReadPlan } from '../../plan/read-plan'
import type { Scoped } from '../../access/row-scope'
import { sameBytes, whereClause } from '../../sql/conditions'
import { commaList, constant, EMPTY, joined, where, type Where } from '../../sql/where'
import { relatedKeys } from './related-keys'
import { memoizedPair } from '../../memoized'
import type { Relation } from '../../../schema/model'
import type { Field } from '../../../schema/field'

export type ScopedInclude = Scoped<ReadPlan>['include'][number]

export interface Join {
  readonly include: ScopedInclude
  /** The position among the joins of the statement. */
  readonly index: number
  /** The selected columns of the included row: the columns of the response, and the key. */
  readonly columns: Selection
  /** The position of the first of these columns in a row. */
  readonly offset: number
}

/** Postgres optimizes the join order of at most eight tables. */
const MAX_JOINS = 4
/** D1 returns at most a hundred columns. */
const MAX_COLUMNS = 100

const aliasAt = (index: number) => `auto_api_${index}`

const NO_JOINS: readonly Join[] = Object.freeze([])

/** Selects the includes of a plan to join. Their columns follow the plan's own columns in each row. */
export function planJoins({ include, order }: Scoped<ReadPlan>, { fields }: Selection): readonly Join[] {
  if (include.length === 0) return NO_JOINS
  const joins: Join[] = []
  let from = fields.length
  for (const one of include) {
    if (joins.length === MAX_JOINS || !isJoinable(one)) continue
    const columns = includedColumns(one)
    // Each value of the order can be another column.
    if (from + columns.fields.length + order.length > MAX_COLUMNS) continue
    joins.push({ include: one, index: joins.length, columns, offset: from })
    from += columns.fields.length
  }
  return joins
}

/**
 * A join needs a to-one relation to a primary key of the same column types, no nested includes or counts, and no `objectLevel` rule. No
 * constraint keeps the key of a view unique, and a second row would repeat the parent.
 */
function isJoinable({ relation, plan }: ScopedInclude): boolean {
  const { primaryKey, readOnly } = relation.target
  return relation.kind === 'one' && !readOnly && plan.accepts === undefined && plan.include.length === 0 && !plan.counts
    && primaryKey.length === relation.foreignColumns.length && primaryKey.every(field => relation.foreignColumns.includes(field))
    && relation.columns.every((field, index) => sqlTypeOf(field.column) === sqlTypeOf(relation.foreignColumns[index]!.column))
}

/** Returns the columns of an include: those of the response, and the keys that match its rows with parents and related rows. */
export function includedColumns({ relation, plan }: ScopedInclude): Selection {
  const keys = [
    ...relatedKeys(plan),
    ...(relation.kind === 'manyToMany' ? [] : relation.foreignColumns),
  ]
  return select(plan.resource, field => plan.selection.byName.has(field.name) || keys.includes(field))
}

const scopeOf = ({ include: { plan } }: Join): readonly Where[] => [...plan.where, ...plan.scope]

/** The parts of a join that do not depend on the caller. */
interface JoinText {
  /** `i0.c0, i0.c1` */
  readonly columns: Where
  /** `id as c0, name as c1` */
  readonly selected: Where
  /** `i0.c0 = posts.author_id` */
  readonly on: Where
}

const textsOf = memoizedPair((_: Relation, _columns: Selection): JoinText[] => [])

function textOf({ include: { relation }, columns, index }: Join): JoinText {
  return textsOf(relation, columns)[index] ??= createText(relation, columns, aliasAt(index))
}

function createText({ foreignColumns, columns }: Relation, { fields }: Selection, alias: string): JoinText {
  const names = fields.map((_, index) => sql.identifier(`${alias}_${index}`))
  const nameOf = (field: Field) => sql`${sql.identifier(alias)}.${names[fields.indexOf(field)]}`
  const same = foreignColumns.map((field, index) => sameBytes(nameOf(field), columns[index]!.column, field.bytes))
  return {
    columns: constant(commaList(fields.map(nameOf))),
    selected: constant(commaList(fields.map(({ selection }, index) => where`${selection} as ${names[index]!}`))),
    on: constant(joined(same, ' and ')),
  }
}

export const joinedColumns = (joins: readonly Join[]): readonly Where[] => joins.map(join => textOf(join).columns)

export function joinClauses(joins: readonly Join[]): Where {
  return joins.length === 0
    ? EMPTY
    : joined(joins.map((join) => {
        const { selected, on } = textOf(join)
        const rows = where`(select ${selected} from ${join.include.plan.resource.table}${whereClause(scopeOf(join))})`
        return where` left join ${rows} as ${sql.identifier(aliasAt(join.index))} on ${on}`
      }), '')
}

/** Returns the part of a row that contains the included row. */
export const joinedRow = ({ offset: from, columns }: Join, row: Row): Row => row.slice(from, from + columns.fields.length)
