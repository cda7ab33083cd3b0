/** The types of a resource, its fields and its relations, as the pipeline uses them. */
import type { Table } from 'drizzle-orm'
import type { ColumnRole } from '../../shared/column-roles'
import type { Operation } from '../../shared/operations'
import type { ResourceAuth, ResourceHooks } from '../registration'
import type { ForeignKeyFacts } from './drizzle/foreign-keys'
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
  /** Every column, hidden ones included, by property name. */
  readonly fields: ReadonlyMap<string, Field>
  readonly primaryKey: readonly Field[]
  readonly roles: Readonly<Partial<Record<ColumnRole, Field>>>
  /** Own foreign keys. */
  readonly foreignKeys: readonly ForeignKeyFacts[]
  /** The tenant column; present exactly when the resource is tenant-scoped. */
  readonly tenant?: Field
  /** Never returned and never usable in a query. */
  readonly hidden: ReadonlySet<string>
  readonly writable: WritableColumns
  /** Columns that are ignored in a request body, because a client cannot write them. */
  readonly dropped: { readonly create: ReadonlySet<string>, readonly update: ReadonlySet<string> }
  readonly schemas: { readonly create: BodySchema, readonly update: BodySchema }
  /** Operations that this resource does not have, for any caller. */
  readonly disabled: ReadonlySet<Operation>
  /** Without it every request is refused. */
  readonly auth?: ResourceAuth
  /** The registration's own hooks; those of plugins come before them. */
  readonly hooks?: ResourceHooks
  readonly relations: ReadonlyMap<string, Relation>
  readonly metadata?: Readonly<Record<string, unknown>>
}

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
  /** The table's export name, or its resource name where it is registered. */
  readonly name: string
  /** The junction's own columns, tenant and trash, registered or not. */
  readonly resource: Resource
  /** Whether the junction is a resource, whose permissions, field rules and row scope apply. */
  readonly registered: boolean
  /** Whether a constraint of the database prevents duplicate links. */
  readonly unique: boolean
  /** The junction's foreign key to this side, and the one to the other side. */
  readonly sourceKey: ForeignKeyFacts
  readonly targetKey: ForeignKeyFacts
}
