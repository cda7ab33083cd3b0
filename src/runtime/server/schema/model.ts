/** A registered table as the pipeline knows it: the resource, its fields and its relations. Frozen at start. Types only. */
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
  /** Names a client may send that are dropped instead of written. */
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
  /** Columns of this resource, in the order of the columns they meet. */
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
  /** Registered: its permissions, fields and rows count. */
  readonly registered: boolean
  /** A constraint of the database keeps two records from being linked twice. */
  readonly unique: boolean
  /** Junction columns that meet `columns` of this side, and those that meet `foreignColumns` of the other. */
  readonly sourceKey: ForeignKeyFacts
  readonly targetKey: ForeignKeyFacts
}
