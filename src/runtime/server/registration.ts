/** The types of a registration: authorization, hooks, validation, and the context that their functions get. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { InferInsertModel, InferSelectModel, SQL, Table } from 'drizzle-orm'
import type { Operation } from '../shared/operations'

/**
 * The signed-in user. Declare its type once, and every callback has that type.
 * @example
 * declare module 'nuxt-auto-api/define' {
 *   interface AutoApiUser { id: number, organizationId: number, role: 'editor' | 'writer' }
 * }
 */
export interface AutoApiUser {
  [key: string]: unknown
}

/** The HTTP adapter adds the event's type; the core does not depend on h3. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface AutoApiPlatform {}

type PlatformEvent = AutoApiPlatform extends { event: infer Event } ? Event : unknown

export interface Tenant {
  readonly id: string | number | null
  /** For staff: the rows of every tenant are visible. */
  readonly canAccessAllTenants?: boolean
}

/** The request, as every callback gets it. */
export interface AutoApiContext {
  /** The signed-in user; `null` for an anonymous caller. */
  user: AutoApiUser | null
  /** The caller's permissions; `'*'` is the super-admin's. */
  permissions: readonly string[]
  tenant: Tenant | undefined
  readonly event: PlatformEvent
  /** The resource's name. */
  readonly resource: string
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
  /** The query string, repeated parameters as arrays. */
  readonly query: Readonly<Record<string, string | string[]>>
  /** The parsed body of a write; `undefined` elsewhere and before it is read. */
  readonly body: unknown
  /** The Drizzle database of this request, as given to `initializeDatabase`. */
  readonly db: unknown
}

export type PermissionRule = (ctx: AutoApiContext) => unknown

/**
 * Who can do something: `true` everybody; `false` nobody but `'*'` (for a field: nobody at all); a permission or role by name; an array:
 * any of its entries; a function of the context, which refuses by throwing; an object for a registered permission evaluator.
 */
export type Permission
  = boolean | string | readonly (string | PermissionRule | boolean)[] | PermissionRule | Readonly<Record<string, unknown>>

export interface FieldRule {
  readonly read?: Permission
  readonly write?: Permission
  /**
   * Which rows a foreign key from a client can refer to: those the caller can see, those of the tenant, or any.
   * @default 'visible'
   */
  readonly reference?: 'visible' | 'tenant' | 'any'
}

export interface ResourceAuth<T extends Table = Table> {
  /** One entry per operation; an undeclared operation falls back to another one, or is refused. */
  readonly permissions?: Readonly<Partial<Record<Operation, Permission>>>
  /** Which rows exist for the caller, in SQL. `undefined`: all of them. Applies to every route and operation. */
  readonly listFilter?: (table: T, ctx: AutoApiContext) => SQL | undefined | Promise<SQL | undefined>
  /**
   * Which rows exist for the caller, where SQL cannot express it. Gets the whole row, hidden columns included, and the operation
   * as `ctx.operation`. A throw hides the row. Lists, counts and aggregates then read every candidate row: prefer `listFilter`.
   */
  readonly objectLevel?: (row: InferSelectModel<T>, ctx: AutoApiContext) => unknown
  /** Named gates for `createEndpoint`: each decides only the operations it declares. */
  readonly custom?: Readonly<Record<string, { readonly permissions?: Readonly<Partial<Record<Operation, Permission>>> }>>
  readonly softDelete?: {
    /**
     * Whether the dependents of a row go to the trash with it.
     * @default 'auto'
     */
    readonly cascade?: 'auto' | 'off'
    /** Days after which the task `auto-api:trash` purges a row; without it rows stay. */
    readonly retentionDays?: number
  }
  /** Who can read and write a field. Absolute: `'*'` does not pass `false`. */
  readonly fields?: Readonly<Partial<Record<keyof InferSelectModel<T> & string, FieldRule>>>
}

export interface ResourceValidation {
  readonly create?: StandardSchemaV1
  readonly update?: StandardSchemaV1
}

type Id = string | number
type Insert<T extends Table> = Partial<InferInsertModel<T>> & Record<string, unknown>
type Select<T extends Table> = Partial<InferSelectModel<T>> & Record<string, unknown>

/**
 * Functions that run before and after the operations on a resource, in process. An object that a `before*` returns replaces the
 * data; an error it throws keeps its status. An `after*` runs after the commit;
 * an object that it returns replaces the record in the response.
 */
export interface ResourceHooks<T extends Table = Table> {
  readonly beforeCreate?: (data: Insert<T>, ctx: AutoApiContext) => unknown
  readonly beforeUpdate?: (id: Id, data: Insert<T>, ctx: AutoApiContext) => unknown
  readonly beforeDelete?: (id: Id, ctx: AutoApiContext) => unknown
  readonly beforeRestore?: (id: Id, ctx: AutoApiContext) => unknown
  readonly beforePurge?: (id: Id, ctx: AutoApiContext) => unknown
  readonly beforeGet?: (id: Id, ctx: AutoApiContext) => unknown
  readonly beforeList?: (ctx: AutoApiContext) => unknown
  readonly beforeLink?: (relation: string, ids: readonly string[], ctx: AutoApiContext) => unknown
  readonly afterCreate?: (record: Select<T>, ctx: AutoApiContext) => unknown
  readonly afterUpdate?: (record: Select<T>, ctx: AutoApiContext) => unknown
  readonly afterDelete?: (id: Id, ctx: AutoApiContext) => unknown
  readonly afterRestore?: (record: Select<T>, ctx: AutoApiContext) => unknown
  readonly afterPurge?: (id: Id, ctx: AutoApiContext) => unknown
  readonly afterGet?: (record: Select<T>, ctx: AutoApiContext) => unknown
  readonly afterLink?: (
    relation: string,
    result: { readonly added: number, readonly removed: number, readonly total: number },
    ctx: AutoApiContext,
  ) => unknown
  readonly afterList?: (records: readonly Select<T>[], ctx: AutoApiContext) => unknown
}

/** A registration whose module imports are loaded: the input of the schema layer. */
export interface ResourceRegistration {
  readonly name: string
  readonly schema: Table
  readonly authorization?: ResourceAuth
  readonly validation?: ResourceValidation
  readonly hooks?: ResourceHooks
  readonly relations?: unknown
  readonly hiddenFields?: readonly string[]
  readonly protectedFields?: readonly string[]
  readonly disabled?: readonly Operation[]
  readonly metadata?: Readonly<Record<string, unknown>>
  /** The file and the export of each part, for messages. */
  readonly from?: Readonly<Partial<Record<'schema' | 'authorization' | 'validation' | 'hooks' | 'relations', string>>>
}
