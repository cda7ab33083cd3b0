/** Mistakes that are easily made, each planted into one file of the core by replacing what it exports. */
import type { Column } from 'drizzle-orm'
import type { Where } from '../../../src/runtime/server/core/sql/where'

type Call<R = unknown> = (...args: unknown[]) => R
type Exports = Record<string, unknown>
type Sql = typeof import('../../../src/runtime/server/core/sql/where')

export interface Bug {
  readonly title: string
  /** The file below `src/runtime/server/core`. */
  readonly file: string
  /** @param sql the module whose conditions the core recognizes */
  readonly plant: (original: Exports, sql: Sql) => Exports
  /** How long to look, where a bug shows rarely. */
  readonly cases?: number
}

interface Order { readonly field: { readonly column: Column }, readonly computed?: { readonly value: Where }, readonly descending: boolean }
interface Text { readonly text: string, readonly values: readonly unknown[] }

/** The first value in a condition. */
function firstValue({ parts }: Where): unknown {
  for (const part of parts) {
    const found = 'parts' in part ? firstValue(part) : 'encoder' in part ? (part as { value: unknown }).value : undefined
    if (found !== undefined) return found
  }
}

/** An operator of the filter, replaced in the table that the planner reads. */
const operator
  = (name: string, change: (condition: Where, column: Column, sql: Sql) => Where) =>
    (original: Exports, sql: Sql): Exports => {
      const operators = original.CLAUSES as Record<string, Call<Where>>
      const honest = operators[name]!
      operators[name] = (...args) => change(honest(...args), (args[0] as Order['field']).column, sql)
      return original
    }

/** A list can be sorted by columns and by values of related rows. */
const sortedBy = ({ field, computed }: Order) => computed?.value ?? field.column

export const BUGS: readonly Bug[] = [
  {
    title: 'the primary key breaks ties the wrong way round',
    file: 'plan/order',
    plant: original => ({
      ...original,
      planOrder: (...args: unknown[]) =>
        (original.planOrder as Call<Order[]>)(...args).map((order, index, all) =>
          index === all.length - 1 ? { ...order, descending: !order.descending } : order,
        ),
    }),
  },
  {
    title: '$ne matches NULL',
    file: 'plan/filter',
    plant: operator('$ne', (condition, column, { where }) => where`(${condition} or ${column} is null)`),
  },
  {
    title: 'an include counts invisible rows towards its limit',
    cases: 600,
    file: 'read/include/statement',
    plant: original => ({
      ...original,
      childrenStatement: (...args: unknown[]) => {
        const statement = (original.childrenStatement as Call<Text>)(...args)
        return {
          ...statement,
          // So that every include counts positions.
          attempts: { skipped: 1 },
          text: statement.text.replace(
            /row_number\(\) over \(partition by ("\w+")\.("\w+") order by \1\."id"\)/,
            '(select count(*) from $1 as x where x.$2 = $1.$2 and x."id" <= $1."id")',
          ),
        }
      },
    }),
  },
  {
    title: 'a cursor page begins with the row the last one ended with',
    file: 'sql/keyset',
    plant: (original, { joined, value, where }) => ({
      ...original,
      after: (dialect: unknown, order: Order[], values: unknown[]) => {
        const same = order.map((entry, index) => where`${sortedBy(entry)} is ${value(values[index])}`)
        return where`(${(original.after as Call<Where>)(dialect, order, values)} or (${joined(same, ' and ')}))`
      },
    }),
  },
  {
    title: 'included rows are not limited to the tenant',
    file: 'access/tenant',
    plant: original => ({
      ...original,
      tenantScope: (ctx: { resource: string }, resource: { name: string }) =>
        ctx.resource === resource.name ? (original.tenantScope as Call)(ctx, resource) : { all: true },
    }),
  },
  {
    title: '$like tells capitals from small letters',
    file: 'plan/filter',
    plant: operator('$like', (condition, column, { value, where }) => {
      const glob = String(firstValue(condition)).replace(/[*?[]/g, '[$&]').replaceAll('%', '*').replaceAll('_', '?')
      return where`${column} glob ${value(glob)}`
    }),
  },
  {
    title: 'the total does not know of the filter',
    file: 'sql/parameterize',
    plant: original => ({
      ...original,
      statement: (...args: unknown[]) => {
        const statement = (original.statement as Call<Text>)(...args)
        return statement.text.startsWith('select count(*) from "')
          ? { ...statement, text: statement.text.replace(/ where .*/s, ''), values: [] }
          : statement
      },
    }),
  },
  {
    title: 'having is ignored',
    file: 'plan/aggregate',
    plant: original => ({
      ...original,
      planGroups: async (...args: unknown[]) => ({ ...(await (original.planGroups as Call<Promise<object>>)(...args)), having: [] }),
    }),
  },
  {
    title: 'a full last page says that more follow',
    file: 'entries/respond',
    plant: original => ({
      ...original,
      listEnvelope: (result: { plan: { limit: number }, records: unknown[] }) =>
        (original.listEnvelope as Call)({ ...result, hasMore: result.records.length === result.plan.limit }),
    }),
  },
  {
    title: 'NULLs stay first when the order is descending',
    file: 'sql/keyset',
    plant: (original, { commaList, where, word }) => ({
      ...original,
      orderList: (order: Order[]) =>
        commaList(order.map(entry => where`${sortedBy(entry)}${word(entry.descending ? ' desc nulls first' : '')}`)),
    }),
  },
  {
    title: 'a cursor takes NULL for 0',
    file: 'sql/cursor',
    plant: original => ({
      ...original,
      createCursor: (resource: unknown, order: unknown, values: unknown[]) =>
        (original.createCursor as Call)(
          resource,
          order,
          values.map(value => value ?? 0),
        ),
    }),
  },
  {
    title: '$in and $nin lose their last value',
    file: 'sql/list/index',
    plant: original => ({
      ...original,
      inList: (engine: unknown, field: unknown, values: unknown[], inside: unknown) =>
        (original.inList as Call)(engine, field, values.slice(0, -1), inside),
    }),
  },
  {
    title: '$or means and',
    file: 'sql/conditions',
    cases: 600,
    plant: original => ({
      ...original,
      or: (branches: Where[][]) => (original.and as Call<Where>)(branches.flat()),
    }),
  },
  {
    title: 'the row filter is dropped',
    file: 'sql/conditions',
    plant: (original, { where }) => ({ ...original, fromSql: () => where`1 = 1` }),
  },
  {
    title: 'the trash is shown',
    file: 'sql/conditions',
    plant: (original, { where }) => ({
      ...original,
      isNull: (field: { name: string }) => (field.name === 'deletedAt' ? where`1 = 1` : (original.isNull as Call)(field)),
    }),
  },
  {
    title: 'a row that code refuses is shown',
    file: 'access/row-scope',
    plant: original => ({
      ...original,
      applyScope: async (...args: unknown[]) => ({
        ...(await (original.applyScope as Call<Promise<object>>)(...args)),
        accepts: undefined,
      }),
    }),
  },
  {
    title: 'a filter on a relation finds rows out of sight',
    file: 'access/related',
    plant: original => ({
      ...original,
      relatedClauses: (engine: unknown, filters: object[]) =>
        (original.relatedClauses as Call)(
          engine,
          filters.map(filter => ('plan' in filter ? { ...filter, plan: { ...(filter.plan as object), scope: [] } } : filter)),
        ),
    }),
  },
  {
    title: 'rows without related rows are those without a key',
    file: 'access/related',
    plant: (original, { where }) => ({
      ...original,
      relatedClauses: (engine: unknown, filters: { match?: string, relation?: { columns: { column: Column }[] } }[]) =>
        (original.relatedClauses as Call<Where[]>)(engine, filters).map((condition, index) =>
          filters[index]!.match === 'none' ? where`${filters[index]!.relation!.columns[0]!.column} is null` : condition,
        ),
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
