/** Changes what a caller cannot see, in the database itself: hidden columns, and rows outside of the caller's scope. */
import { and, eq } from 'drizzle-orm'
import type { Field } from '../../server/schema/field'
import type { Resource } from '../../server/schema/model'
import type { Random } from './random'
import { keyOf, type Row, type SeenResource, type Sight } from './sight'

/** The part of a Drizzle database that every dialect has. */
interface Writable {
  insert: (table: unknown) => { values: (row: Row) => PromiseLike<unknown> }
  update: (table: unknown) => { set: (row: Row) => { where: (condition: unknown) => PromiseLike<unknown> } }
  delete: (table: unknown) => { where: (condition: unknown) => PromiseLike<unknown> }
}

export interface Change {
  /** For messages: `posts 3: deleted`. */
  readonly text: string
  /** Changes that are made or left out together. */
  readonly group: string
  readonly apply: (db: Writable) => PromiseLike<unknown>
  readonly undo: (db: Writable) => PromiseLike<unknown>
}

/** Applies changes. Those that a constraint refuses are left out. @returns those that took effect, in their order */
export async function applyChanges(db: unknown, changes: readonly Change[]): Promise<Change[]> {
  const applied: Change[] = []
  for (const change of changes) {
    try {
      await change.apply(db as Writable)
      applied.push(change)
    }
    catch {
      // A constraint of the database refuses the change.
    }
  }
  return applied
}

export async function undoChanges(db: unknown, applied: readonly Change[]): Promise<void> {
  for (const change of applied.toReversed()) await change.undo(db as Writable)
}

/** Proposes changes of everything that the caller cannot see. A change of a hidden value can still change which rows the caller sees. */
export function proposeChanges({ resources }: Sight, random: Random): Change[] {
  const proposed: Change[] = []
  for (const seen of resources.values()) {
    const { resource } = seen
    if (resource.readOnly || resource.primaryKey.length === 0) continue
    proposed.push(...ofHiddenColumns(seen, random), ...ofHiddenRows(seen, resources, random), ...ofNewRows(seen, resources, random))
  }
  return proposed
}

const columnsOf = ({ fields }: Resource): Field[] =>
  [...fields.values()].filter(({ stored, column }) => stored && !column.generated)

const changeable = (resource: Resource) =>
  columnsOf(resource).filter(field => !resource.primaryKey.includes(field))

function ofHiddenColumns({ resource, rows, readable }: SeenResource, random: Random): Change[] {
  const hidden = changeable(resource).filter(({ name }) => !readable.has(name))
  return hidden.flatMap(field => rows.flatMap((row): Change[] => {
    const values = { [field.name]: otherValue(resource, rows, field, row[field.name], random) }
    return values[field.name] === undefined ? [] : [update(resource, row, values, `${resource.name}.${field.name}`)]
  }))
}

type Resources = Sight['resources']

function ofHiddenRows({ resource, rows, visible }: SeenResource, resources: Resources, random: Random): Change[] {
  return rows.filter(row => !visible.has(keyOf(resource, row))).flatMap((row): Change[] => {
    const key = `${resource.name} ${keyOf(resource, row)}`
    if (random.chance(0.25) && !isReferenced(resource, row, resources)) return [remove(resource, row, key)]
    const { deletedAt } = resource.roles
    if (deletedAt && random.chance(0.3)) {
      const time = row[deletedAt.name] === null ? otherValue(resource, rows, deletedAt, null, random) ?? null : null
      return [update(resource, row, { [deletedAt.name]: time }, key)]
    }
    const values = Object.fromEntries(random.some(changeable(resource), 3)
      .map(field => [
        field.name, foreignValue(resource, resources, field, random) ?? otherValue(resource, rows, field, row[field.name], random),
      ])
      .filter(([, value]) => value !== undefined))
    return Object.keys(values).length > 0 ? [update(resource, row, values, key)] : []
  })
}

/** Whether other rows refer to the row. The database could change them too, and they would not come back. */
function isReferenced(resource: Resource, row: Row, resources: Resources): boolean {
  // The rows of a junction table that is not registered are not known.
  if ([...resource.relations.values()].some(relation => relation.kind === 'manyToMany' && !relation.junction.registered)) return true
  return [...resources.values()].some(other => other.resource.foreignKeys.some(({ foreignTable, columns, foreignColumns }) =>
    foreignTable === resource.table
    && other.rows.some(referring => columns.every((name, index) => String(referring[name]) === String(row[foreignColumns[index]!])))))
}

/** Copies of hidden rows, and copies of visible rows with some columns of a hidden row or with new values. */
function ofNewRows({ resource, rows, visible }: SeenResource, resources: Resources, random: Random): Change[] {
  if (rows.length === 0) return []
  const hidden = rows.filter(row => !visible.has(keyOf(resource, row)))
  return Array.from({ length: 4 }, (_, index) => {
    const source = index < 2 && hidden.length > 0 ? random.pick(hidden) : random.pick(rows)
    const model = hidden.length > 0 ? random.pick(hidden) : undefined
    const columns = changeable(resource)
    const copied = model ? random.some(columns, columns.length).map(({ name }) => [name, model[name]]) : []
    // Without a hidden row, a row of another tenant or in the trash is one.
    const moved = [resource.tenant, resource.roles.deletedAt].flatMap(field =>
      field && !model && random.chance(0.6) ? [[field.name, otherValue(resource, rows, field, source[field.name], random)]] : [])
    const related = columns.flatMap((field) => {
      const value = random.chance(0.5) ? foreignValue(resource, resources, field, random) : undefined
      return value === undefined ? [] : [[field.name, value]]
    })
    const unique = columns.filter(({ name }) => isUnique(resource, name) && typeof source[name] === 'string')
      .map(({ name }) => [name, `${String(source[name])} ${random.below(1000)}`])
    const key = newKey(resource, resources, rows, index, random)
    return insert(resource, { ...source, ...Object.fromEntries([...copied, ...moved, ...related, ...unique, ...key]) })
  })
}

const isUnique = ({ facts }: Resource, name: string) => facts.uniques.some(columns => columns.includes(name))

function newKey(resource: Resource, resources: Resources, rows: readonly Row[], index: number, random: Random): [string, unknown][] {
  return resource.primaryKey.map((field): [string, unknown] =>
    [field.name, foreignValue(resource, resources, field, random) ?? newPart(field, rows, index, random)])
}

function newPart({ name }: Field, rows: readonly Row[], index: number, random: Random): unknown {
  const values = rows.map(row => row[name])
  const [first] = values
  const step = 1 + index + 5 * random.below(4)
  if (typeof first === 'number') return Math.max(...values as number[]) + step
  if (typeof first === 'bigint') return (values as bigint[]).reduce((most, value) => value > most ? value : most) + BigInt(step)
  if (typeof first === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(first))
    return first.slice(0, -8) + (random.below(2 ** 31) + 2 ** 31).toString(16)
  return `${String(first)}-${random.below(100_000)}`
}

/** The key of a row to which a foreign key can refer. */
function foreignValue({ foreignKeys }: Resource, resources: Resources, { name }: Field, random: Random): unknown {
  const key = foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === name)
  const target = key && [...resources.values()].find(({ resource }) => resource.table === key.foreignTable)
  return target && target.rows.length > 0 ? random.pick(target.rows)[key.foreignColumns[0]!] : undefined
}

/** @returns another value of the same type, often that of another row. undefined if none is known */
function otherValue(resource: Resource, rows: readonly Row[], field: Field, value: unknown, random: Random): unknown {
  const others = rows.map(row => row[field.name]).filter(other => other !== null && String(other) !== String(value))
  const isForeign = resource.foreignKeys.some(({ columns }) => columns.includes(field.name))
  if (field.nullable && value !== null && random.chance(0.15)) return null
  if (others.length > 0 && (isForeign || (random.chance(0.5) && !isUnique(resource, field.name)))) return random.pick(others)
  if (isForeign) return field.nullable && value !== null ? null : undefined
  const made = changed(field, value ?? others[0] ?? emptyOf(field), random)
  return made !== undefined && field.fits(made) ? made : undefined
}

function changed({ column }: Field, value: unknown, random: Random): unknown {
  const { enumValues } = column as { readonly enumValues?: readonly string[] }
  if (enumValues?.length) return random.pick(enumValues)
  if (typeof value === 'string') return random.chance(0.5) ? `${value} ${random.below(100)}` : `${random.pick(['A', 'm', 'z'])}${value}`
  if (typeof value === 'number') return value + (random.chance(0.5) ? 1 : -1) * (1 + random.below(1000))
  if (typeof value === 'bigint') return value + BigInt(1 + random.below(1000))
  if (typeof value === 'boolean') return !value
  if (value instanceof Date) return new Date(value.getTime() + 86_400_000 * (1 + random.below(30)))
  return undefined
}

const emptyOf = ({ column }: Field): unknown => ({
  string: 'text', number: 1_700_000_000, boolean: false, date: new Date(1_700_000_000_000), bigint: 1n,
} as Readonly<Record<string, unknown>>)[column.dataType]

const isRow = ({ primaryKey }: Resource, row: Row) => and(...primaryKey.map(field => eq(field.column, row[field.name])))

/** Every column is named, so that Drizzle does not set the columns of `$onUpdate`. */
function settable(resource: Resource, row: Row): Row {
  return Object.fromEntries(changeable(resource).map(({ name }) => [name, row[name]]))
}

const insertable = (resource: Resource, row: Row): Row => Object.fromEntries(columnsOf(resource).map(({ name }) => [name, row[name]]))

function update(resource: Resource, row: Row, values: Row, group: string): Change {
  const { table, name } = resource
  return {
    group,
    text: `${name} ${keyOf(resource, row)}: ${Object.entries(values).map(([field, value]) => `${field} = ${describe(value)}`).join(', ')}`,
    apply: db => db.update(table).set(settable(resource, { ...row, ...values })).where(isRow(resource, row)),
    undo: db => db.update(table).set(settable(resource, row)).where(isRow(resource, row)),
  }
}

const remove = (resource: Resource, row: Row, group: string): Change => ({
  group,
  text: `${resource.name} ${keyOf(resource, row)}: deleted`,
  apply: db => db.delete(resource.table).where(isRow(resource, row)),
  undo: db => db.insert(resource.table).values(insertable(resource, row)),
})

const insert = (resource: Resource, row: Row): Change => ({
  group: `new ${resource.name} ${keyOf(resource, row)}`,
  text: `${resource.name} ${keyOf(resource, row)}: inserted`,
  apply: db => db.insert(resource.table).values(insertable(resource, row)),
  undo: db => db.delete(resource.table).where(isRow(resource, row)),
})

const describe = (value: unknown) =>
  value instanceof Date ? value.toISOString() : typeof value === 'bigint' ? String(value) : JSON.stringify(value)
