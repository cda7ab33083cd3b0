/** The types of a resource, its fields and its relations, as the pipeline uses them. */
import type { Table } from 'drizzle-orm'
import type { ColumnRole } from '../../shared/column-roles'
import type { ChildAction, LinkAction } from '../../shared/nested'
import type { Operation } from '../../shared/operations'
import type { ResourceAuth, ResourceHooks } from '../registration'
import type { ForeignKeyFacts } from './drizzle/foreign-keys'
import type { ScopeReference } from './drizzle/expression'
import type { TableFacts } from './drizzle/table'
import type { Dialect } from '../../shared/dialects'
import type { Field } from './field'
import type { WritableColumns } from './server-owned'
import type { BodySchema } from './validation'

export interface Resource {
  readonly name: string
  readonly table: Table
  readonly facts: TableFacts
  readonly dialect: Dialect
  /** Every column and every computed field, hidden ones included, by name. */
  readonly fields: ReadonlyMap<string, Field>
  readonly primaryKey: readonly Field[]
  readonly roles: Readonly<Partial<Record<ColumnRole, Field>>>
  /** The foreign keys of the resource's table. */
  readonly foreignKeys: readonly ForeignKeyFacts[]
  /** The tenant column. Absent if the resource is not tenant-scoped. */
  readonly tenant?: Field
  /** The names of hidden fields. Responses never contain them, and queries cannot use them. */
  readonly hidden: ReadonlySet<string>
  readonly writable: WritableColumns
  /** The row scopes that the SQL of the computed fields needs. A request resolves them before it reads a field. */
  readonly scopes: readonly ScopeReference[]
  /** The fields that the server ignores in a request body, because a client cannot write them. */
  readonly dropped: { readonly create: ReadonlySet<string>, readonly update: ReadonlySet<string> }
  readonly schemas: { readonly create: BodySchema, readonly update: BodySchema }
  /** Whether the rows are those of a view, which nobody can write. `disabled` then contains every operation that writes. */
  readonly readOnly: boolean
  /** The resources whose commits change the rows of this view. Without it, nothing says when the rows of a view change. */
  readonly tracks?: readonly string[]
  /** The operations that this resource refuses for every caller. */
  readonly disabled: ReadonlySet<Operation>
  /** Whether every write to an existing row must name the tag of the row. */
  readonly requireIfMatch: boolean
  /** Disables further operations, while the server starts. */
  readonly disable: (operations: readonly Operation[]) => void
  /** Adds rules to fields, while the server starts. The registration's own rules take precedence. */
  readonly addFieldRules: (rules: FieldRules) => void
  /** The authorization of the resource. Without it, the resource refuses every request. */
  readonly auth?: ResourceAuth
  /** The hooks of the registration. Plugin hooks run before them. */
  readonly hooks?: ResourceHooks
  readonly relations: ReadonlyMap<string, Relation>
  /** The children and links that the body of a write can contain, by the name of their relation. */
  readonly nested: ReadonlyMap<string, Nested>
  readonly metadata?: Readonly<Record<string, unknown>>
}

export type Nested = NestedChildren | NestedLinks

export interface NestedChildren {
  readonly relation: ToMany
  readonly actions: ReadonlySet<ChildAction>
}

export interface NestedLinks {
  readonly relation: ManyToMany
  readonly actions: ReadonlySet<LinkAction>
}

export const isNestedLinks = (nested: Nested): nested is NestedLinks => nested.relation.kind === 'manyToMany'

/** Rules by field. */
export type FieldRules = NonNullable<ResourceAuth['fields']>

interface BaseRelation {
  readonly name: string
  readonly target: Resource
  /** Columns of this resource, in the order of `foreignColumns`. */
  readonly columns: readonly Field[]
}

export interface ToOne extends BaseRelation {
  readonly kind: 'one'
  /** Columns of the target. */
  readonly foreignColumns: readonly Field[]
}

export interface ToMany extends BaseRelation {
  readonly kind: 'many'
  readonly foreignColumns: readonly Field[]
}

export interface ManyToMany extends BaseRelation {
  readonly kind: 'manyToMany'
  readonly foreignColumns: readonly Field[]
  readonly junction: Junction
}

export type Relation = ToOne | ToMany | ManyToMany

export interface Junction {
  /** The resource name of the junction table. If the table is not registered, its export name. */
  readonly name: string
  /** The junction table as a resource, with its columns, tenant column and trash columns. Exists even if the table is not registered. */
  readonly resource: Resource
  /** Whether the app registers the junction table. If so, its permissions, field rules and row scope apply. */
  readonly registered: boolean
  /** Whether a constraint of the database prevents duplicate links. */
  readonly unique: boolean
  /** The junction table's foreign key to the resource of this relation. */
  readonly sourceKey: ForeignKeyFacts
  /** The junction table's foreign key to the target. */
  readonly targetKey: ForeignKeyFacts
}
