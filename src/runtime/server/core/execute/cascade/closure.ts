/** What goes with some rows: the recursive query that finds it, in each dialect, and the statement that changes it. */
import { aliasedTable, getTableColumns, sql, type Column, type SQL } from 'drizzle-orm'
import { shape, type Shape } from '../../sql/shape'
import { bytewise, DIALECTS, postgresType } from '../../../engines/dialects'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../schema/graph'
import type { Dependents } from './dependents'
import { sameBytes, type Clause } from '../../sql/clause'

export type Following = 'active' | 'grouped' | 'all'

/** The rows that go with some rows. */
export interface Closure {
  readonly dependents: Dependents
  /** Which rows it begins with. */
  readonly start: Clause
  /** Which rows it takes along: those that are active or just stamped, those of the same group in the trash, or all. */
  readonly following: Following
  /** How many terms a compound may have, where the engine takes few. */
  readonly maxTerms?: number
  /** It begins with several rows, each with a group of its own: rows below more than one of them go with the nearest. */
  readonly manyRoots?: boolean
}

export const CLOSURE = sql.identifier('reached')
const TABLE = sql.identifier('t')
const key = (index: number) => sql.identifier(`k${index}`)
/** What tells a group in the trash: the root's `deletionId`, and its `deletedAt` where a table has no other. */
export const GROUP = sql.identifier('g')
const TIME = sql.identifier('d')
const PICKED = sql.identifier('picked')
const EXACT = sql.identifier('exact')

export const closureShape = ({ dependents, start, following, manyRoots, maxTerms }: Closure): Shape =>
  shape`${dependents.root}${following}${manyRoots}${maxTerms}${start.shape}`

const dialectOf = ({ dependents }: Closure) => dependents.root.facts.dialect

/** Tables are told apart by their place, not by a name that would have to be quoted. */
const tag = ({ dependents }: Closure, node: GraphNode) => sql.raw(String(dependents.nodes.indexOf(node)))

export const keysOf = (node: GraphNode) => node.facts.primaryKey.map(name => columnOf(node.facts, name))

export function tuple(columns: readonly Column[]): SQL {
  const list = sql.join(columns.map(column => sql`${column}`), sql`, `)
  return columns.length === 1 ? list : sql`(${list})`
}

/** Rows of a circle are found through each other until all of them are back. */
export const keepsDeletionId = ({ dependents }: Closure, { roles }: GraphNode) =>
  dependents.cyclic && roles.deletionId !== undefined && dependents.root.roles.deletionId !== undefined

export interface RowChange {
  /** Nothing to set: the rows are removed. */
  readonly set?: readonly SQL[]
  readonly where?: SQL
}

/**
 * `with recursive reached … update child set … where … and id in (select k0 from reached …)`.
 * MySQL reads no table that it changes, but for a derived one, and MariaDB no WITH before an UPDATE:
 * `update (with recursive reached … select k0 as p0 from reached …) as picked inner join child on id = p0 set … where …`.
 * @param rows what the columns must be among.
 */
export function changeRows(closure: Closure, node: GraphNode, columns: readonly Column[], rows: SQL, { set, where }: RowChange): SQL {
  const values = set && sql.join([...set], sql`, `)
  if (dialectOf(closure) !== 'mysql') {
    const what = values ? sql`update ${node.table} set ${values}` : sql`delete from ${node.table}`
    return sql`${withClosure(closure)} ${what} where ${where ? sql`${where} and ` : sql``}${isKey(node, columns) ? sql`${tuple(columns)} in (${rows})` : inRows(closure, columns, rows)}`
  }
  if (!values)
    return sql`delete from ${node.table} where ${tuple(columns)} in (select ${sql.join(
      columns.map((_, index) => sql`${place(index)}`),
      sql`, `,
    )} from (${withClosure(closure)} ${rows}) as ${PICKED})`
  const picked = sql`(${withClosure(closure)} ${rows}) as ${PICKED}`
  const join = sql`inner join ${node.table} on ${sql.join(
    columns.map((column, index) => same(column, sql`${PICKED}.${place(index)}`)),
    sql` and `,
  )}`
  const rest = where ? sql` where ${where}` : sql``
  return sql`update ${picked} ${join} set ${values}${rest}`
}

const place = (index: number) => sql.identifier(`p${index}`)

/** Primary keys are unique, also under their collation: those of rows that were found have no other spelling. */
const isKey = (node: GraphNode, columns: readonly Column[]) => keysOf(node).every((column, index) => column === columns[index])

/** A key holds the same bytes as another one. */
const same = (column: Column, value: SQL) => sameBytes(column, value, bytewise(column))

/** Keys that are among those of a query, byte for byte. On MySQL `pointedAt` names its columns. */
export function inRows(closure: Closure, columns: readonly Column[], rows: SQL): SQL {
  const exact = columns.map(column => bytewise(column))
  const plain = sql`${tuple(columns)} in (${rows})`
  const beside = exact.find(bytes => bytes)?.beside
  if (!beside) return plain
  const list = sql.join(columns.map((column, index) => exact[index]?.of(sql`${column}`) ?? sql`${column}`), sql`, `)
  const left = columns.length === 1 ? list : sql`(${list})`
  if (dialectOf(closure) !== 'mysql') return sql`(${plain} and ${beside(sql`${left} in (${rows})`)})`
  const right = columns.map((_, index) => exact[index]?.of(sql`${place(index)}`) ?? sql`${place(index)}`)
  return sql`(${plain} and ${left} in (select ${sql.join(right, sql`, `)} from (${rows}) as ${EXACT}))`
}

/** The reached rows of a table, by their keys. @param grouped on MySQL with their group, for the statement that sets it. */
export function rowsOf(closure: Closure, node: GraphNode, grouped = false): SQL {
  const mysql = dialectOf(closure) === 'mysql'
  const keys = keysOf(node).map((_, index) => mysql ? sql`${keyOf(closure, node, index)} as ${place(index)}` : keyOf(closure, node, index))
  const from = grouped && closure.manyRoots ? sql`${nearestRoot(closure)} as ${CLOSURE}` : CLOSURE
  return sql`select ${sql.join([...keys, ...(mysql && grouped ? [sql`${GROUP}`] : [])], sql`, `)} from ${from} where ${TABLE} = ${tag(closure, node)}`
}

/**
 * Each reached row once, in the group of the nearest row that the closure begins with: a recursive query finds rows step by step, so
 * the first time a row was found is the shortest way to it.
 * `(select * from (select *, row_number() over (partition by t, k0 order by n) as m from (… numbered n …) as r) as r where m = 1)`
 */
function nearestRoot(closure: Closure): SQL {
  const [ROWS, FOUND, TIMES] = [sql.identifier('r'), sql.identifier('n'), sql.identifier('m')]
  const names = [TABLE, ...Array.from({ length: widthOf(closure) }, (_, index) => key(index)), GROUP]
  const columns = sql.join(names.map(name => sql`${name}`), sql`, `)
  const row = sql.join(names.slice(0, -1).map(name => sql`${name}`), sql`, `)
  const numbered = DIALECTS[dialectOf(closure)].numbered(columns, sql`${CLOSURE}`, sql`${FOUND}`)
  const ranked = sql`select ${columns}, row_number() over (partition by ${row} order by ${FOUND}) as ${TIMES} from (${numbered}) as ${ROWS}`
  return sql`(select ${columns} from (${ranked}) as ${ROWS} where ${TIMES} = 1)`
}

/**
 * `with recursive reached … update child set … from reached where … and child.id = reached.k0 and reached.t = 1`: the rows joined with
 * what they take from above. Looked up for each row instead, a cascade over many rows would cost their number squared.
 */
export function changeWithGroup(closure: Closure, node: GraphNode, { set, where }: Required<RowChange>): SQL {
  if (dialectOf(closure) === 'mysql') return changeRows(closure, node, keysOf(node), rowsOf(closure, node, true), { set, where })
  const own = keysOf(node).map((column, index) => sql`${column} = ${reachedKey(closure, node, index)}`)
  return sql`${withClosure(closure)} update ${node.table} set ${sql.join([...set], sql`, `)} from ${closure.manyRoots ? sql`${nearestRoot(closure)} as ${CLOSURE}` : CLOSURE} where ${where} and ${CLOSURE}.${TABLE} = ${tag(closure, node)} and ${sql.join(own, sql` and `)}`
}

/** The group of a reached row, in the statement that changes it. */
export function groupOf(closure: Closure, node: GraphNode): SQL {
  return dialectOf(closure) === 'mysql'
    ? sql`${PICKED}.${GROUP}`
    : asColumn(closure, sql`${CLOSURE}.${GROUP}`, closure.dependents.root.roles.deletionId!, node.roles.deletionId!)
}

/** The referenced columns of the reached rows of a table. */
export function referencedValues(closure: Closure, edge: ForeignKeyFacts, parent: GraphNode): SQL {
  const referenced = edge.foreignColumns.map(name => columnOf(parent.facts, name))
  if (dialectOf(closure) !== 'mysql')
    return sql`select ${sql.join(
      referenced.map(column => sql`${column}`),
      sql`, `,
    )} from ${parent.table} where ${tuple(keysOf(parent))} in (${rowsOf(closure, parent)})`
  const on = sql.join(keysOf(parent).map((column, index) => sql`${column} = ${keyOf(closure, parent, index)}`), sql` and `)
  return sql`select distinct ${sql.join(
    referenced.map((column, index) => sql`${column} as ${place(index)}`),
    sql`, `,
  )} from ${CLOSURE} inner join ${parent.table} on ${on} where ${CLOSURE}.${TABLE} = ${tag(closure, parent)}`
}

/**
 * with recursive reached(t, k0, g, d) as (
 *   select 0, id, deletion_id, deleted_at from posts where deletion_id in (…)
 *   union select 1, comments.id, reached.g, reached.d from reached inner join comments on … where reached.t = 0 and …
 * )
 */
export function withClosure(closure: Closure): SQL {
  const { dependents, start } = closure
  const { deletionId, deletedAt } = dependents.root.roles
  const width = widthOf(closure)
  const names = sql.join(
    [sql`${TABLE}`, ...Array.from({ length: width }, (_, index) => sql`${key(index)}`), sql`${GROUP}`, sql`${TIME}`],
    sql`, `,
  )
  const first = sql`select ${tag(closure, dependents.root)}, ${keyList(closure, dependents.root)}, ${deletionId ?? sql`null`}, ${deletedAt ?? sql`null`} from ${dependents.root.table} where ${start.build()}`
  return sql`with recursive ${CLOSURE}(${names}) as (${first}${recursion(closure)})`
}

function recursion(closure: Closure): SQL {
  if (closure.dependents.edges.length >= (closure.maxTerms ?? Infinity)) return singleTermRecursion(closure)
  return dialectOf(closure) === 'pg' ? lateralRecursion(closure) : unionRecursion(closure)
}

/** One recursive part for each foreign key. */
function unionRecursion(closure: Closure): SQL {
  return sql.join(
    stepsOf(closure).map(
      ({ child, from, where }) =>
        sql` union select ${tag(closure, child)}, ${keyList(closure, child)}, ${CLOSURE}.${GROUP}, ${CLOSURE}.${TIME} from ${CLOSURE}${sql.join(
          from.map(({ table, on }) => sql` inner join ${table} on ${on}`),
          sql``,
        )} where ${where}`,
    ),
    sql``,
  )
}

/** Postgres takes one recursive part only: the foreign keys stand side by side in it. */
function lateralRecursion(closure: Closure): SQL {
  const steps = stepsOf(closure)
  if (steps.length === 0) return sql``
  const NEXT = sql.identifier('next')
  const keys = Array.from({ length: widthOf(closure) }, (_, index) => key(index))
  const parts = steps.map(({ child, from, where }) => {
    const named = Array.from(keys, (name, index) => sql`${keyAt(closure, child, index)} as ${name}`)
    return sql`select ${tag(closure, child)} as ${TABLE}, ${sql.join(named, sql`, `)} from ${sql.join(
      from.map(({ table }) => table),
      sql`, `,
    )} where ${sql.join(
      from.map(({ on }) => on),
      sql` and `,
    )} and ${where}`
  })
  const listed = sql.join([TABLE, ...keys].map(name => sql`${NEXT}.${name}`), sql`, `)
  return sql` union select ${listed}, ${CLOSURE}.${GROUP}, ${CLOSURE}.${TIME} from ${CLOSURE} cross join lateral (${sql.join(parts, sql` union all `)}) as ${NEXT}`
}

const childOf = ({ dependents }: Closure, edge: ForeignKeyFacts) => dependents.nodes.find(node => node.table === edge.table)!
const parentOf = ({ dependents }: Closure, edge: ForeignKeyFacts) => dependents.nodes.find(node => node.table === edge.foreignTable)!

/**
 * All foreign keys in one term, for D1, which takes five: each reached row is met with each key, by number, and looks only into
 * that key's table.
 *
 * union select case e.value when 0 then 1 … end, case e.value when 0 then e0.id … end, reached.g, reached.d
 * from reached cross join json_each('[0,1,…]') as e left join comments as e0 on e.value = 0 and reached.t = 0 and e0.post_id = reached.k0 …
 * where case e.value when 0 then e0.id … end is not null
 */
function singleTermRecursion(closure: Closure): SQL {
  const edge = sql`${sql.identifier('e')}.${sql.identifier('value')}`
  const edges = closure.dependents.edges.map((edge, index) => {
    const node = childOf(closure, edge)
    const table = aliasedTable(node.table, `e${index}`)
    const aliased = getTableColumns(table)
    return {
      edge,
      node,
      table: sql`${node.table} as ${sql.identifier(`e${index}`)}`,
      columnOf: (column: Column) => aliased[node.facts.columns.find(known => known.column === column)!.name]!,
    }
  })
  const choose = (value: (entry: (typeof edges)[number]) => unknown) =>
    sql`case ${edge} ${sql.join(
      edges.map((entry, index) => sql`when ${sql.raw(String(index))} then ${value(entry)}`),
      sql` `,
    )} end`
  const keys = Array.from({ length: widthOf(closure) }, (_, place) => choose(({ node, columnOf }) => {
    const column = keysOf(node)[place]
    return column ? columnOf(column) : sql`null`
  }))
  const joins = edges.map(
    ({ edge: key, node, table, columnOf }, index) =>
      sql` left join ${table} on ${edge} = ${sql.raw(String(index))} and ${CLOSURE}.${TABLE} = ${tag(closure, parentOf(closure, key))} and ${pointsAt(closure, key, node, parentOf(closure, key), columnOf)}${follow(closure, node, columnOf)}`,
  )
  return sql` union select ${choose(({ node }) => tag(closure, node))}, ${sql.join(keys, sql`, `)}, ${CLOSURE}.${GROUP}, ${CLOSURE}.${TIME} from ${CLOSURE} cross join json_each(${sql.raw(`'[${edges.map((_, index) => index)}]'`)}) as ${sql.identifier('e')}${sql.join(joins, sql``)} where ${keys[0]} is not null`
}

/** The child row refers to the reached parent; by way of the parent itself where the key does not point at its primary key. */
function pointsAt(
  closure: Closure,
  { columns, foreignColumns }: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
  aliased: (column: Column) => Column,
): SQL {
  const own = columns.map(name => aliased(columnOf(child.facts, name)))
  const places = foreignColumns.map(name => parent.facts.primaryKey.indexOf(name))
  if (!places.includes(-1))
    return sql.join(
      own.map((column, index) => same(column, sql`${CLOSURE}.${key(places[index]!)}`)),
      sql` and `,
    )
  const reached = keysOf(parent).map((column, index) => sql`${column} = ${CLOSURE}.${key(index)}`)
  const referenced = foreignColumns.map(name => sql`${columnOf(parent.facts, name)}`)
  return inRows(closure, own, sql`select ${sql.join(referenced, sql`, `)} from ${parent.table} where ${sql.join(reached, sql` and `)}`)
}

interface ClosureStep {
  readonly child: GraphNode
  readonly from: readonly { readonly table: SQL, readonly on: SQL }[]
  readonly where: SQL
}

function stepsOf(closure: Closure): ClosureStep[] {
  const { dependents } = closure
  return dependents.edges.map((edge) => {
    const child = childOf(closure, edge)
    const parent = parentOf(closure, edge)
    return {
      child,
      from: joinTo(closure, edge, child, parent),
      where: sql`${CLOSURE}.${TABLE} = ${tag(closure, parent)}${follow(closure, child)}`,
    }
  })
}

function follow(closure: Closure, node: GraphNode, aliased = (column: Column): Column => column): SQL {
  const { dependents, following } = closure
  // A table without a trash is passed through.
  if (!node.roles.deletedAt || following === 'all') return sql``
  const deletedAt = aliased(node.roles.deletedAt)
  const deletionId = node.roles.deletionId && aliased(node.roles.deletionId)
  const { root } = dependents
  const grouped
    = deletionId && root.roles.deletionId
      ? sql`${deletionId} = ${asColumn(closure, sql`${CLOSURE}.${GROUP}`, root.roles.deletionId, deletionId)}`
      : root.roles.deletedAt
        ? sql`${deletedAt} = ${asColumn(closure, sql`${CLOSURE}.${TIME}`, root.roles.deletedAt, deletedAt)}`
        : sql`${deletedAt} = ${CLOSURE}.${TIME}`
  if (following === 'active') return sql` and (${deletedAt} is null or ${grouped})`
  return keepsDeletionId(closure, node) ? sql` and ${grouped}` : sql` and ${deletedAt} is not null and ${grouped}`
}

/** The child rows of a reached parent; over the parent itself where the key does not point at its primary key. */
function joinTo(closure: Closure, edge: ForeignKeyFacts, child: GraphNode, parent: GraphNode): ClosureStep['from'] {
  const places = edge.foreignColumns.map(name => parent.facts.primaryKey.indexOf(name))
  if (!places.includes(-1) && edge.columns.length === parent.facts.primaryKey.length) {
    return [
      {
        table: sql`${child.table}`,
        on: sql.join(
          edge.columns.map((name, index) => same(columnOf(child.facts, name), reachedKey(closure, parent, places[index]!))),
          sql` and `,
        ),
      },
    ]
  }
  const up = sql.identifier('up')
  const own = parent.facts.primaryKey.map(
    (name, index) => sql`${up}.${sql.identifier(columnOf(parent.facts, name).name)} = ${reachedKey(closure, parent, index)}`,
  )
  const on = edge.columns.map((name, index) =>
    same(columnOf(child.facts, name), sql`${up}.${sql.identifier(columnOf(parent.facts, edge.foreignColumns[index]!).name)}`),
  )
  return [
    { table: sql`${parent.table} as ${up}`, on: sql.join(own, sql` and `) },
    { table: sql`${child.table}`, on: sql.join(on, sql` and `) },
  ]
}

const widthOf = ({ dependents }: Closure) => Math.max(...dependents.nodes.map(node => node.facts.primaryKey.length))

const keyList = (closure: Closure, node: GraphNode) =>
  sql.join(
    Array.from({ length: widthOf(closure) }, (_, index) => keyAt(closure, node, index)),
    sql`, `,
  )

/** A row's key column as it stands in the closure: as it is where all tables have one type there, else as text. */
function keyAt(closure: Closure, node: GraphNode, index: number): SQL {
  const column = keysOf(node)[index]
  const value = column ? sql`${column}` : sql`null`
  return isMixed(closure, index) ? DIALECTS[dialectOf(closure)].toText(value) : value
}

/** A key in the closure as its own column's type. Asked only of the rows of that table: another's text may be no number. */
function keyOf(closure: Closure, node: GraphNode, index: number, from: SQL = sql``): SQL {
  const own = sql`${from}${key(index)}`
  if (!isMixed(closure, index)) return own
  return DIALECTS[dialectOf(closure)].fromText(sql`case when ${from}${TABLE} = ${tag(closure, node)} then ${own} end`, keysOf(node)[index]!)
}

const reachedKey = (closure: Closure, node: GraphNode, index: number) => keyOf(closure, node, index, sql`${CLOSURE}.`)

/** SQLite compares what it is given; the others give a column of a query one type. */
function isMixed(closure: Closure, index: number): boolean {
  return dialectOf(closure) !== 'sqlite' && new Set(closure.dependents.nodes.map(node => typeOf(keysOf(node)[index]))).size > 1
}

const typeOf = (column: Column | undefined) =>
  column
    ?.getSQLType()
    .replace(/^serial$/, 'integer')
    .replace(/^bigserial$/, 'bigint')
    .replace(/^smallserial$/, 'smallint')

/** A value of one column where another's is wanted. */
function asColumn(closure: Closure, value: SQL, from: Column, to: Column): SQL {
  return dialectOf(closure) !== 'pg' || typeOf(from) === typeOf(to) ? value : sql`cast(cast(${value} as text) as ${postgresType(to)})`
}
