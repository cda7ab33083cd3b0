/** Separates SQL conditions from their values, so that the text of a statement is built once per shape and then cached. */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import type { Dialect } from '../../../shared/dialects'
import type { Engine, Statement } from '../../engines/engine'
import { outline, type Outline } from './outline'
import { quoted, shape, shapeOf, type Shape } from './shape'
import type { Field } from '../../schema/field'
import type { Compiled, StatementCache } from './statement-cache'
import { memoized } from '../memoized'

/** A condition. Conditions with the same shape have the same text, even if their values differ. */
export interface Clause {
  readonly shape: Shape
  /** Driver values, in the order of the parameters in the SQL. */
  readonly values: readonly unknown[]
  readonly build: () => SQL
  /** Whether the app wrote this SQL. */
  readonly custom?: true
  /** Whether the condition selects the rows of a list of keys. */
  readonly byKeys?: true
  /** Builds the condition if another one with `byKeys` is beside it. */
  readonly buildBesideKeys?: () => SQL
}

/** A condition that a plugin of this package has built: it needs no walk through its SQL. */
export class RowClause implements Clause {
  constructor(readonly shape: Shape, readonly values: readonly unknown[], readonly build: () => SQL) {}
}

/** A column and the ways to compare it. */
export type ComparableColumn = Pick<Field, 'name' | 'column' | 'compare' | 'bytes'>

/**
 * Returns the statement for a key. `build` runs only if the cache does not contain the key.
 * The parameters of its SQL must be `values`, in the same order.
 */
export function statement<Extra>(
  cache: StatementCache,
  engine: Engine,
  key: Shape,
  values: readonly unknown[],
  build: () => { sql: SQL, extra: Extra },
): Statement & { extra: Extra } {
  const compiled = cache(`${engine.name}|${key}`, () => {
    const { sql, extra } = build()
    const rendered = engine.render(sql)
    if (rendered.values.length !== values.length)
      throw new Error(`[auto-api] The statement ${key} has ${rendered.values.length} parameters for ${values.length} values.`)
    return { text: rendered.text, extra }
  }) as Compiled<Extra>
  return { text: compiled.text, values, extra: compiled.extra }
}

/** Compares keys and tenants by bytes, even if the column's collation treats different texts as equal. */
export function equals(field: Field, value: unknown): Clause {
  return equalsRaw(field, field.encode(value))
}

/** Like {@link equals}, for a driver value. The condition contains the plain comparison too, because only that one can use an index. */
export function equalsRaw(field: ComparableColumn, value: unknown): Clause {
  const { column, bytes } = field
  const { equal, bytewise } = shapesOf(column)
  if (!bytes) return { shape: equal, values: [value], build: () => sql`${column} = ${bound(field, value)}` }
  return { shape: bytewise, values: [value, value], build: () => sameBytes(column, bound(field, value), bytes) }
}

/** The shapes of comparisons with a column, which most requests need several times. */
const shapesOf = memoized((column: Column) => ({ equal: shape`${column}=`, bytewise: shape`${column} bytewise=` }))

/** Compares keys and foreign keys by bytes. */
export function sameBytes(left: SQL | Column, right: SQL | Column, bytes: ComparableColumn['bytes']): SQL {
  const plain = sql`${left} = ${right}`
  return bytes ? sql`(${plain} and ${bytes.condition(sql`${bytes.operand(sql`${left}`)} = ${bytes.operand(sql`${right}`)}`)})` : plain
}

/** A driver value as the parameter of a comparison with its column. */
export const bound = (field: ComparableColumn, value: unknown): SQL => compared(field, sql`${sql.param(value)}`)

/** Casts a value to the column's type, if the engine would otherwise compare it as another type. */
export function compared({ compare }: ComparableColumn, value: SQL): SQL {
  return compare ? compare(value) : value
}

export function isNull(field: Field): Clause {
  return { shape: shape`${field.column} null`, values: [], build: () => sql`${field.column} is null` }
}

export function isNotNull(field: Field): Clause {
  return { shape: shape`${field.column} set`, values: [], build: () => sql`${field.column} is not null` }
}

/** Matches no row. It is also the scope of a caller without a tenant. */
export const NO_ROWS: Clause = { shape: shape`nothing`, values: [], build: () => sql`1 = 0` }

/** What tells a planner that a condition selects many rows. Only SQLite needs it. */
const MANY_ROWS: Readonly<Partial<Record<Dialect, (condition: SQL) => SQL>>> = {
  sqlite: condition => sql`likelihood(${condition}, 0.05)`,
}

/**
 * Makes a condition such as that of the tenant the second choice of an index, beside a list of keys. Until somebody runs ANALYZE, SQLite
 * expects ten rows from each index, and would read all rows of the tenant instead of those with the keys.
 */
export function manyRows(clause: Clause, { dialect }: Engine): Clause {
  const hint = MANY_ROWS[dialect]
  const { shape, values, build } = clause
  return hint ? { shape, values, build, buildBesideKeys: () => hint(build()) } : clause
}

/** Converts SQL of the app to a condition. The text becomes part of the shape, and the parameters become values. */
export function fromSql(engine: Engine, condition: SQL): Clause {
  return new CustomClause(engine, condition)
}

/** Separates the SQL from its values when something reads them: an insert has no use for the filter of its own resource. */
class CustomClause implements Clause {
  readonly custom = true
  readonly build: () => SQL
  private outlined: Outline | undefined

  constructor(private readonly engine: Engine, private readonly condition: SQL) {
    this.build = () => sql`(${condition})`
  }

  get shape(): Shape {
    return (this.outlined ??= outlineOf(this.engine, this.condition)).shape
  }

  get values(): readonly unknown[] {
    return (this.outlined ??= outlineOf(this.engine, this.condition)).values
  }
}

function outlineOf(engine: Engine, condition: SQL): Outline {
  const outlined = outline(condition)
  if (outlined) return { shape: shape`sql ${outlined.shape}`, values: outlined.values }
  const { text, values } = engine.render(condition)
  return { shape: shape`text ${quoted(text)}`, values }
}

export { shapeOf }

/** Returns the values of the clauses, in order. A loop, because this runs several times per request. */
export function valuesOf(clauses: readonly Clause[]): unknown[] {
  const all: unknown[] = []
  for (const { values } of clauses) for (const value of values) all.push(value)
  return all
}

/** Builds ` where a and b`, or empty SQL if there are no conditions. */
export function whereClause(clauses: readonly Clause[]): SQL {
  return clauses.length === 0 ? sql`` : sql` where ${joinAnd(clauses)}`
}

const PARAMETER = shape`?`

/** A parameter for a value. If a custom column type converts the value to SQL, the text of that SQL becomes part of the shape. */
export const boundValue = (engine: Engine, field: Field, value: unknown): Clause => boundDriverValue(engine, field, field.encode(value))

/** Like {@link boundValue}, for what `field.encode` has returned. */
export function boundDriverValue(engine: Engine, field: Field, encoded: unknown): Clause {
  return is(encoded, SQL) ? fromSql(engine, encoded) : { shape: PARAMETER, values: [encoded], build: () => parameter(field, encoded) }
}

/** The parameter of a statement that writes the field. */
export function parameter({ bind }: Field, encoded: unknown): SQL {
  const value = sql`${sql.param(encoded)}`
  return bind ? bind(value) : value
}

/**
 * Builds SQL that contains other conditions. `build` must use them in the order of `clauses`.
 * @param around the shape of the SQL around the conditions.
 */
export function fromClauses(around: Shape, clauses: readonly Clause[], build: () => SQL): Clause {
  return { shape: shape`${around}${shapeOf(clauses)}`, values: valuesOf(clauses), build }
}

/** Matches a row if all conditions of at least one branch hold. */
export function or(branches: readonly (readonly Clause[])[]): Clause {
  return {
    shape: shape`or ${branches.map(shapeOf)}`,
    values: branches.flatMap(valuesOf),
    build: () => sql`(${joined(branches.map(branch => sql`(${joinAnd(branch)})`), 'or')})`,
  }
}

/** Combines several conditions into one. */
export function and(clauses: readonly Clause[]): Clause {
  return {
    shape: shape`all ${shapeOf(clauses)}`,
    values: valuesOf(clauses),
    build: () => joinAnd(clauses),
    buildBesideKeys: () => joinAnd(clauses, true),
  }
}

/**
 * Joins conditions with `and`. An empty list matches every row.
 * @param besideKeys whether a list of keys selects the rows
 */
export function joinAnd(clauses: readonly Clause[], besideKeys = clauses.some(({ byKeys }) => byKeys)): SQL {
  const conditions = clauses.map(({ build, buildBesideKeys = build }) => (besideKeys ? buildBesideKeys : build)())
  return conditions.length === 0 ? sql`1 = 1` : joined(conditions, 'and')
}

/** Splits long lists into halves, because each `and` or `or` in a chain adds a nesting level, and D1 accepts a hundred levels. */
function joined(conditions: readonly SQL[], word: 'and' | 'or'): SQL {
  if (conditions.length <= MAX_CHAIN) return sql.join([...conditions], sql.raw(` ${word} `))
  const half = conditions.length >> 1
  return sql`(${joined(conditions.slice(0, half), word)}) ${sql.raw(word)} (${joined(conditions.slice(half), word)})`
}

const MAX_CHAIN = 32
