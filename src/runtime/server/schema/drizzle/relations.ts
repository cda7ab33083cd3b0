/**
 * Describes as plain data the relations that an app declares with Drizzle: `relations()` for one table, or `defineRelations()` and
 * `defineRelationsPart()` of Drizzle 1.0 for many. It reads their values and needs no class of Drizzle, because 1.0 renamed the classes.
 */
import { isObject } from '../../../shared/is-object'
import { entityKind, type Column, type Table, type View } from 'drizzle-orm'
import { isTable, propertyName } from './config'
import { isView, toTable } from './view'

export interface DeclaredRelation {
  readonly name: string
  readonly target: Table
  readonly many: boolean
  /** The joined columns. Absent on a side that `relations()` declares without columns. */
  readonly columns?: readonly string[]
  readonly foreignColumns?: readonly string[]
  /** Identifies the other side, if two tables have more than one relation. */
  readonly relationName?: string
  /** The junction table of a many-to-many relation, and its columns that reference this side. */
  readonly through?: { readonly table: Table, readonly columns: readonly string[] }
  /** Why an include cannot return this relation. Absent if it can. */
  readonly unsupported?: string
}

/**
 * Returns the relations of a table.
 * @throws When the value comes from neither `relations()` nor `defineRelations()`.
 */
export function describeRelations(relations: unknown, table: Table): DeclaredRelation[] {
  if (isRelations(relations)) return fromRelations(relations)
  const entries = isObject(relations) ? Object.values(relations).filter(isTableEntry) : []
  // A part of `defineRelations()` does not have to contain the table.
  if (entries.length > 0) return entries.filter(entry => toTable(entry.table) === table).flatMap(fromDefineRelations)
  throw new TypeError('not a value made by Drizzle\'s relations() or defineRelations()')
}

// ── relations()

interface RelationsOfTable {
  readonly table: Table | View
  readonly config: (helpers: object) => Readonly<Record<string, Side>>
}

/** What our helpers return in place of Drizzle's relations. */
interface Side {
  readonly target: Table
  readonly many: boolean
  readonly config?: { readonly fields?: readonly Column[], readonly references?: readonly Column[], readonly relationName?: string }
  readonly withFieldName: () => Side
}

const isRelations = (value: unknown): value is RelationsOfTable =>
  isObject(value) && (value.constructor as unknown as Record<symbol, unknown> | undefined)?.[entityKind] === 'Relations'

const helper = (many: boolean) => (target: Table | View, config?: Side['config']): Side => {
  const side: Side = { target: toTable(target), many, config, withFieldName: () => side }
  return side
}

function fromRelations({ table: source, config }: RelationsOfTable): DeclaredRelation[] {
  const table = toTable(source)
  return Object.entries(config({ one: helper(false), many: helper(true) })).map(([name, { target, many, config }]) => ({
    name,
    target,
    many,
    ...config?.fields && { columns: config.fields.map(column => propertyName(table, column)) },
    ...config?.references && { foreignColumns: config.references.map(column => propertyName(target, column)) },
    relationName: config?.relationName,
  }))
}

// ── defineRelations()

/** The entry of a table. */
interface TableEntry {
  readonly table: Table | View
  readonly relations: Readonly<Record<string, object>>
}

/** Drizzle fills in the columns of a side that declares none. */
interface DefinedRelation {
  readonly relationType: 'one' | 'many'
  readonly targetTable: Table | View
  readonly sourceColumns: readonly RelationColumn[]
  readonly targetColumns: readonly RelationColumn[]
  readonly throughTable?: Table
  readonly through?: { readonly source: readonly RelationColumn[] }
  /** A symbol if there is no condition. */
  readonly where?: unknown
}

interface RelationColumn { readonly _: { readonly column: Column } }

const isSource = (value: unknown) => isTable(value) || isView(value)

const isTableEntry = (value: unknown): value is TableEntry =>
  isObject(value) && isSource((value as Partial<TableEntry>).table) && isObject((value as Partial<TableEntry>).relations)

const isDefinedRelation = (value: unknown): value is DefinedRelation =>
  isObject(value) && ['one', 'many'].includes((value as Partial<DefinedRelation>).relationType as string)

function fromDefineRelations({ table: source, relations }: TableEntry): DeclaredRelation[] {
  const table = toTable(source)
  return Object.entries(relations).flatMap(([name, relation]): DeclaredRelation[] => {
    // The other entries are aggregates, which are not relations.
    if (!isDefinedRelation(relation)) return []
    const { relationType, targetTable, sourceColumns, targetColumns, throughTable, through, where } = relation
    const target = toTable(targetTable)
    return [{
      name,
      target,
      many: relationType === 'many',
      columns: sourceColumns.map(({ _ }) => propertyName(table, _.column)),
      foreignColumns: targetColumns.map(({ _ }) => propertyName(target, _.column)),
      ...throughTable && through && {
        through: { table: throughTable, columns: through.source.map(({ _ }) => propertyName(throughTable, _.column)) },
      },
      ...isObject(where) && { unsupported: 'has a `where`' },
      ...relationType === 'one' && throughTable && { unsupported: 'is a to-one relation over a junction table' },
    }]
  })
}
