/** The types of a registration: authorization, hooks, validation, and the context that their functions get. */
import type { Awaitable } from '../shared/awaitable'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { InferInsertModel, InferSelectModel, SQL, Table, View } from 'drizzle-orm'
import type { Operation } from '../shared/operations'
import type { NestedAction } from '../shared/nested'
import type { ComputedFields } from './computed'

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

/** The context of a request. Every callback receives it. */
export interface AutoApiContext {
  /** The signed-in user; `null` for an anonymous caller. */
  user: AutoApiUser | null
  /** The caller's permissions. A super-admin has `'*'`. */
  permissions: readonly string[]
  tenant: Tenant | undefined
  /** The credential that a plugin recognized, such as an API token. It is absent if the caller came by a session, or is anonymous. */
  readonly credential?: {
    readonly id?: string
    /** The scopes that limit the caller. `null` is no limit. */
    readonly scopes: readonly string[] | null
  }
  readonly event: PlatformEvent
  /** The resource's name. */
  readonly resource: string
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
  /** The parsed query string. A repeated parameter is an array. */
  readonly query: Readonly<Record<string, string | string[]>>
  /**
   * Whether the write is a dry run: it is rolled back at the end. A hook must not change anything outside of it: no mail, and no writes
   * with `ctx.db`. `atomicWrites(ctx, …)` rolls back too.
   */
  readonly dryRun: boolean
  /** The parsed body of a write. It is `undefined` before the body is read, and for other requests. */
  readonly body: unknown
  /** The Drizzle database of this request, as given to `initializeDatabase`. */
  readonly db: unknown
}

/** The context of a before-hook of a write to an existing row. */
export interface ConditionalContext extends AutoApiContext {
  /**
   * SQL over the resource's table. The write changes the row only if the row meets this condition. Otherwise the write fails with 412
   * `PRECONDITION_FAILED`, and nothing is written. If several hooks set a condition, the row must meet all of them.
   * @example
   * beforeUpdate: (id, data, ctx) => { ctx.condition = eq(tasks.status, 'open') }
   */
  condition?: SQL
}

export type PermissionRule = (ctx: AutoApiContext) => unknown

/**
 * Decides who has access:
 * - `true` allows everybody. `false` refuses everybody except a caller with `'*'`; for a field it refuses that caller too.
 * - A string is a permission or a role of the caller.
 * - An array allows a caller that one of its entries allows.
 * - A function of the context refuses if it returns a falsy value or throws an error.
 * - An object is for a registered permission evaluator.
 */
export type Permission
  = boolean | string | readonly (string | PermissionRule | boolean)[] | PermissionRule | Readonly<Record<string, unknown>>

export interface FieldRule {
  readonly read?: Permission
  readonly write?: Permission
  /**
   * The rows to which a client can set a foreign key: rows that the caller can see, rows of the tenant, or any row.
   * @default 'visible'
   */
  readonly reference?: 'visible' | 'tenant' | 'any'
}

/** What a resource shows: the rows of a Drizzle table, or those of a view. */
export type ResourceSource = Table | View

/** A row as Drizzle reads it. */
export type RowOf<T extends ResourceSource> = T extends Table ? InferSelectModel<T> : T['$inferSelect']

export interface ResourceAuth<T extends ResourceSource = Table> {
  /** One entry per operation. An operation without an entry uses the entry of another operation, or is refused. */
  readonly permissions?: Readonly<Partial<Record<Operation, Permission>>>
  /** Returns the SQL condition of the rows that the caller can see; `undefined` means all rows. Applies to every route and operation. */
  readonly listFilter?: (table: T, ctx: AutoApiContext) => Awaitable<SQL | undefined>
  /**
   * Decides whether the caller can see a row, for rules that SQL cannot express. It receives the whole row with its hidden columns;
   * `ctx.operation` is the operation. A falsy result or an error hides the row. Lists, counts and aggregates read every
   * candidate row to call it, so prefer `listFilter`.
   */
  readonly objectLevel?: (row: RowOf<T>, ctx: AutoApiContext) => unknown
  /** Named gates for `createEndpoint`. Each gate decides only the operations that it declares. */
  readonly custom?: Readonly<Record<string, { readonly permissions?: Readonly<Partial<Record<Operation, Permission>>> }>>
  readonly softDelete?: {
    /**
     * Whether a delete also moves the dependents of the row to the trash.
     * @default 'auto'
     */
    readonly cascade?: 'auto' | 'off'
    /** Days after which the task `auto-api:trash` purges a row. Without this option, rows stay in the trash. */
    readonly retentionDays?: number
  }
  /** Rules for who can read and write a field. `false` also refuses a caller with `'*'`. */
  readonly fields?: Readonly<Partial<Record<keyof RowOf<T> & string, FieldRule>>>
}

export interface ResourceValidation {
  readonly create?: StandardSchemaV1
  readonly update?: StandardSchemaV1
}

/** The form of the values of a column in requests and responses. */
export interface WireConversion<V = never, W = unknown> {
  /** Converts a value of the table, which is never null, to JSON. */
  readonly encode: (value: V) => W
  /** Converts JSON, which is never null, to a value of the table. It throws an error for JSON that is no value. */
  readonly decode: (json: unknown) => unknown
}

/** The columns whose values have a form of their own in JSON. */
export type ResourceWire<T extends ResourceSource = Table> = {
  readonly [K in keyof RowOf<T> & string]?: WireConversion<NonNullable<RowOf<T>[K]>>
}

type Id = string | number
type Insert<T extends ResourceSource> = (T extends Table ? Partial<InferInsertModel<T>> : unknown) & Record<string, unknown>
type Select<T extends ResourceSource> = Partial<RowOf<T>> & Record<string, unknown>

/**
 * Functions that run before and after the operations on a resource, in the server's process. A `before*` hook can return an object,
 * which replaces the data. If it throws an error, the response has the error's status. An `after*` hook runs after the commit. It can
 * return an object, which replaces the record in the response.
 */
export interface ResourceHooks<T extends ResourceSource = Table> {
  readonly beforeCreate?: (data: Insert<T>, ctx: AutoApiContext) => unknown
  readonly beforeUpdate?: (id: Id, data: Insert<T>, ctx: ConditionalContext) => unknown
  readonly beforeDelete?: (id: Id, ctx: ConditionalContext) => unknown
  readonly beforeRestore?: (id: Id, ctx: ConditionalContext) => unknown
  readonly beforePurge?: (id: Id, ctx: ConditionalContext) => unknown
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
  readonly schema: ResourceSource
  readonly authorization?: ResourceAuth
  readonly validation?: ResourceValidation
  readonly hooks?: ResourceHooks
  readonly wire?: ResourceWire
  readonly computed?: ComputedFields<never>
  /** The names of the computed fields, for a description without their SQL. */
  readonly computedNames?: readonly string[]
  readonly relations?: unknown
  readonly key?: string | readonly string[]
  /** The resources whose primary keys the columns of a view contain. */
  readonly references?: Readonly<Record<string, string>>
  /** The resources whose commits change the rows of a view. */
  readonly tracks?: readonly string[]
  /** The writes of children that the body of a write can contain, by relation. */
  readonly nested?: Readonly<Record<string, readonly NestedAction[]>>
  readonly hiddenFields?: readonly string[]
  readonly protectedFields?: readonly string[]
  readonly disabled?: readonly Operation[]
  readonly requireIfMatch?: boolean
  readonly metadata?: Readonly<Record<string, unknown>>
  /** The file and the export of each part, for messages. */
  readonly from?: Readonly<Partial<Record<'schema' | 'authorization' | 'validation' | 'hooks' | 'wire' | 'computed' | 'relations', string>>>
}
