/** What the random requests of a test can name: ids, fields and values of both worlds, and some that do not exist. */
import type { Field } from '../../server/schema/field'
import type { Relation, Resource } from '../../server/schema/model'
import { WRITE_OPERATIONS, type Operation } from '../../shared/operations'
import { toPath, type RowId } from '../access/probes'
import type { Random } from './random'
import { idOf, keyOf, wireOf, type Row, type SeenResource, type Sight } from './sight'

export interface Pool {
  readonly random: Random
  readonly resources: ReadonlyMap<string, PooledResource>
  /** The names of the resources. Those that the caller can read occur more often. */
  readonly names: readonly string[]
  /** The filter operators by kind of field. */
  readonly operators: Readonly<Record<Comparison, readonly string[]>>
  /** Whether conditions can be combined at every level. */
  readonly extended: boolean
}

type Comparison = 'equality' | 'order' | 'text'

const OPERATORS: Pool['operators'] = {
  equality: ['$eq', '$ne', '$in', '$nin', '$null'], order: ['$gt', '$gte', '$lt', '$lte'], text: ['$like'],
}

/** Those of the option `filters.extended`. */
const EXTENDED: Pool['operators'] = {
  equality: OPERATORS.equality,
  order: [...OPERATORS.order, '$between'],
  text: [...OPERATORS.text, '$notLike', '$startsWith', '$contains', '$endsWith', '$eqi'],
}

export interface PooledResource {
  readonly resource: Resource
  readonly visible: readonly Row[]
  readonly hidden: readonly Row[]
  readonly readable: readonly Field[]
  readonly unreadable: readonly Field[]
  readonly relations: readonly Relation[]
  readonly allowed: ReadonlySet<Operation>
}

export function createPool([first, second]: readonly [Sight, Sight], random: Random, extended: boolean): Pool {
  const resources = new Map<string, PooledResource>()
  for (const [name, seen] of first.resources) resources.set(name, poolOf(seen, second.resources.get(name)!))
  const names = [...resources].flatMap(([name, { readable }]) => readable.length > 0 ? [name, name, name, name] : [name])
  return { random, resources, names, operators: extended ? EXTENDED : OPERATORS, extended }
}

function poolOf({ resource, rows, visible, readable, allowed }: SeenResource, second: SeenResource): PooledResource {
  const isVisible = (row: Row) => visible.has(keyOf(resource, row))
  const fields = [...resource.fields.values()]
  return {
    resource,
    visible: resource.primaryKey.length > 0 ? rows.filter(isVisible) : rows,
    hidden: resource.primaryKey.length > 0 ? [...rows, ...second.rows].filter(row => !isVisible(row)) : [],
    readable: fields.filter(({ name }) => readable.has(name)),
    unreadable: fields.filter(({ name }) => !readable.has(name)),
    relations: [...resource.relations.values()],
    allowed,
  }
}

export const pickResource = ({ random, names, resources }: Pool): PooledResource => resources.get(random.pick(names))!

/** A resource that the caller can write, mostly. */
export function pickWritable({ random, resources }: Pool): PooledResource | undefined {
  const writable = [...resources.values()].filter(({ allowed }) => WRITE_OPERATIONS.some(operation => allowed.has(operation)))
  return writable.length > 0 && random.chance(0.9) ? random.pick(writable) : undefined
}

const MISSING = 1_987_654_321

/** The id of a visible row, of a hidden row of either world, or of no row. */
export function pickId({ random }: Pool, { resource, visible, hidden }: PooledResource): RowId {
  const rows = random.weighted([[5, visible], [4, hidden], [1, [] as readonly Row[]]])
  const row = rows.length > 0 ? random.pick(rows) : undefined
  if (row && resource.primaryKey.length > 0) return idOf(resource.primaryKey, row)
  const parts = resource.primaryKey.map((): string | number => MISSING)
  return parts.length > 1 ? parts : MISSING
}

export const toBodyId = (id: RowId): string | number => typeof id === 'object' ? toPath(id) : id

/** A field that the caller can read, sometimes one that the caller cannot read, or a name that does not exist. */
export function pickField({ random }: Pool, { readable, unreadable }: PooledResource): Field | undefined {
  return random.weighted<() => Field | undefined>([
    [readable.length > 0 ? 20 : 0, () => random.pick(readable)],
    [unreadable.length > 0 ? 1.5 : 0, () => random.pick(unreadable)],
    [0.3, () => undefined],
  ])()
}

export const nameOf = (field: Field | undefined) => field?.name ?? 'unknownName'

/** A value of the field in the form of JSON: that of a visible row, of a hidden one, or another one. */
export function pickValue({ random }: Pool, { visible, hidden }: PooledResource, field: Field | undefined): unknown {
  if (!field) return 1
  const rows = random.weighted([[6, visible], [4, hidden]])
  const value = rows.length > 0 ? wireOf(field, random.pick(rows)[field.name]) : null
  if (value === null || value === undefined) return random.chance(0.05) ? null : INVENTED[field.wire]?.(random) ?? random.pick([0, 1, 'a'])
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && random.chance(0.15)) return value + random.pick([-1, 1])
  return value
}

const INVENTED: Readonly<Partial<Record<Field['wire'], (random: Random) => unknown>>> = {
  text: ({ pick }) => pick(['a', 'M', 'New']),
  integer: ({ below }) => below(4),
  number: ({ below }) => below(100) / 4,
  boolean: ({ chance }) => chance(0.5),
  date: ({ below }) => new Date(1_700_000_000_000 + 86_400_000 * below(400)).toISOString(),
  bigint: ({ below }) => String(below(4)),
  decimal: ({ below }) => String(below(100)),
}
