/** Mistakes that are easily made, each planted into one file of the core by replacing what it exports. */
import { sql, type Column, type SQL } from 'drizzle-orm'

type Call<R = unknown> = (...args: unknown[]) => R
type Exports = Record<string, unknown>

export interface Bug {
  readonly title: string
  /** The file below `src/runtime/server/core`. */
  readonly file: string
  readonly plant: (original: Exports) => Exports
  /** How long to look, where a bug shows rarely. */
  readonly cases?: number
}

interface Clause { readonly shape: string, readonly values: readonly unknown[], readonly build: () => SQL }
interface Order { readonly field: { readonly column: Column }, readonly descending: boolean }
interface Compiled { readonly text: string, readonly values: readonly unknown[], readonly extra?: object }

/** The text of statements, rewritten after it is made. */
const rewrite = (change: (compiled: Compiled, shape: string) => Compiled) => (original: Exports): Exports => ({
  ...original,
  statement: (...args: unknown[]) => change((original.statement as Call<Compiled>)(...args), args[2] as string),
})

/** An operator of the filter, replaced in the table that the planner reads. */
const operator = (name: string, change: (clause: Clause, column: Column) => Clause) => (original: Exports): Exports => {
  const operators = original.CLAUSES as Record<string, Call<Clause>>
  const honest = operators[name]!
  operators[name] = (...args) => change(honest(...args), (args[0] as Order['field']).column)
  return original
}

export const BUGS: readonly Bug[] = [
  {
    title: 'the primary key breaks ties the wrong way round',
    file: 'plan/order',
    plant: original => ({
      ...original,
      planOrder: (...args: unknown[]) => (original.planOrder as Call<Order[]>)(...args).map((order, index, all) => index === all.length - 1 ? { ...order, descending: !order.descending } : order),
    }),
  },
  {
    title: '$ne matches NULL',
    file: 'plan/filter',
    plant: operator('$ne', (clause, column) => ({ ...clause, shape: `${clause.shape}0`, build: () => sql`(${clause.build()} or ${column} is null)` })),
  },
  {
    title: 'an include counts invisible rows towards its limit',
    cases: 600,
    file: 'sql/clause',
    plant: rewrite(({ text, values, extra }) => ({
      values,
      // So that every include counts positions.
      extra: extra && 'skipped' in extra ? { skipped: 1 } : extra,
      text: text.replace(/row_number\(\) over \(partition by ("\w+")\.("\w+") order by \1\."id"\)/, '(select count(*) from $1 as x where x.$2 = $1.$2 and x."id" <= $1."id")'),
    })),
  },
  {
    title: 'a cursor page begins with the row the last one ended with',
    file: 'sql/keyset',
    plant: original => ({
      ...original,
      after: (dialect: unknown, order: Order[], values: unknown[]) => {
        const after = (original.after as Call<Clause>)(dialect, order, values)
        const at = () => sql.join(order.map(({ field }, index) => sql`${field.column} is ${sql.param(values[index])}`), sql` and `)
        return { shape: `from ${after.shape}`, values: [...after.values, ...values], build: () => sql`(${after.build()} or (${at()}))` }
      },
    }),
  },
  {
    title: 'included rows are not limited to the tenant',
    file: 'access/tenant',
    plant: original => ({
      ...original,
      tenantScope: (ctx: { resource: string }, resource: { name: string }) => ctx.resource === resource.name ? (original.tenantScope as Call)(ctx, resource) : { all: true },
    }),
  },
  {
    title: '$like tells capitals from small letters',
    file: 'plan/filter',
    plant: operator('$like', ({ shape, values: [pattern] }, column) => {
      const glob = String(pattern).replace(/[*?[]/g, '[$&]').replaceAll('%', '*').replaceAll('_', '?')
      return { shape: `${shape}glob`, values: [glob], build: () => sql`${column} glob ${sql.param(glob)}` }
    }),
  },
  {
    title: 'the total does not know of the filter',
    file: 'sql/clause',
    plant: rewrite((compiled, shape) => shape.startsWith('count (') ? { text: compiled.text.replace(/ where .*/s, ''), values: [] } : compiled),
  },
  {
    title: 'having is ignored',
    file: 'plan/aggregate',
    plant: original => ({ ...original, planGroups: async (...args: unknown[]) => ({ ...await (original.planGroups as Call<Promise<object>>)(...args), having: [] }) }),
  },
  {
    title: 'a full last page says that more follow',
    file: 'respond',
    plant: original => ({
      ...original,
      listEnvelope: (result: { plan: { limit: number }, records: unknown[] }) => (original.listEnvelope as Call)({ ...result, hasMore: result.records.length === result.plan.limit }),
    }),
  },
  {
    title: 'NULLs stay first when the order is descending',
    file: 'sql/keyset',
    plant: original => ({
      ...original,
      orderList: (order: Order[]) => sql.join(order.map(({ field, descending }) => sql`${field.column}${sql.raw(descending ? ' desc nulls first' : '')}`), sql`, `),
    }),
  },
  {
    title: 'a cursor takes NULL for 0',
    file: 'sql/cursor',
    plant: original => ({
      ...original,
      createCursor: (resource: unknown, order: unknown, values: unknown[]) => (original.createCursor as Call)(resource, order, values.map(value => value ?? 0)),
    }),
  },
  {
    title: '$in and $nin lose their last value',
    file: 'sql/list/index',
    plant: original => ({
      ...original,
      inList: (engine: unknown, field: unknown, values: unknown[], inside: unknown) => (original.inList as Call)(engine, field, values.slice(0, -1), inside),
    }),
  },
  {
    title: '$or means and',
    file: 'sql/clause',
    cases: 600,
    plant: original => ({
      ...original,
      or: (branches: Clause[][]): Clause => ({ shape: 'and', values: branches.flat().flatMap(({ values }) => values), build: () => (original.joinAnd as Call<SQL>)(branches.flat()) }),
    }),
  },
  {
    title: 'the row filter is dropped',
    file: 'sql/clause',
    plant: original => ({ ...original, fromSql: () => ({ shape: 'always', values: [], build: () => sql`1 = 1` }) }),
  },
  {
    title: 'the trash is shown',
    file: 'sql/clause',
    plant: original => ({
      ...original,
      isNull: (field: { name: string }) => field.name === 'deletedAt' ? { shape: 'always', values: [], build: () => sql`1 = 1` } : (original.isNull as Call)(field),
    }),
  },
  {
    title: 'a row that code refuses is shown',
    file: 'access/row-scope',
    plant: original => ({
      ...original,
      applyScope: async (...args: unknown[]) => ({ ...await (original.applyScope as Call<Promise<object>>)(...args), accepts: undefined }),
    }),
  },
  {
    title: 'a filter on a relation finds rows out of sight',
    file: 'access/related',
    plant: original => ({
      ...original,
      relatedClauses: (engine: unknown, filters: object[]) =>
        (original.relatedClauses as Call)(engine, filters.map(filter => 'plan' in filter ? { ...filter, plan: { ...filter.plan as object, scope: [] } } : filter)),
    }),
  },
  {
    title: 'rows without related rows are those without a key',
    file: 'access/related',
    plant: original => ({
      ...original,
      relatedClauses: (engine: unknown, filters: { match?: string, relation?: { columns: { column: Column }[] } }[]) =>
        (original.relatedClauses as Call<Clause[]>)(engine, filters).map((clause, index) => filters[index]!.match === 'none'
          ? { shape: `no key ${clause.shape}`, values: [], build: () => sql`${filters[index]!.relation!.columns[0]!.column} is null` }
          : clause),
    }),
  },
  {
    title: 'an average is cut to a whole number',
    file: 'read/aggregate/in-memory',
    plant: original => ({
      ...original,
      toResultValue: (aggregate: { function: string }, ...rest: unknown[]) => {
        const value = (original.toResultValue as Call)(aggregate, ...rest)
        return aggregate.function === 'avg' && typeof value === 'number' ? Math.trunc(value) : value
      },
    }),
  },
]
