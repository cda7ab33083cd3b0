/** Functions that add types to the files of a registration. They return their argument. This file loads only the plugin contract. */
import type { NestedAction } from '../shared/nested'
import type { Table } from 'drizzle-orm'
import type { Operation } from '../shared/operations'
import type { ComputedFields } from './computed'
import { AUTHORIZATION_KEYS, DEFINED } from '../shared/registration-keys'
import type { FieldRule, ResourceAuth, ResourceHooks, ResourceSource, ResourceValidation, ResourceWire } from './registration'

export type {
  AutoApiContext,
  AutoApiUser,
  ConditionalContext,
  FieldRule,
  Permission,
  PermissionRule,
  ResourceAuth,
  ResourceHooks,
  ResourceValidation,
  ResourceWire,
  Tenant,
  WireConversion,
} from './registration'
export {
  computed, type ComputedExpression, type ComputedField, type ComputedFields, type ComputedOptions, type ComputedTools,
} from './computed'
export { defineAutoApiPlugin, type AutoApiPlugin, type PluginRoute, type PluginTask } from './plugin/contract'
export type { PluginField, PluginResource, PluginServer } from './plugin/server'
export type { PluginTable } from './plugin/table'
export type { UpdateRow } from './core/entries/update-row'
export type { CredentialCaller, FindCredentialCaller } from './core/extensions/credentials'
export type {
  Change, ChangedRows, ChangedRowsInsert, ChangedRowsValues, ChangedValue, CommitListener, CommitParticipant, CommitStatement,
} from './core/extensions/changes'
export type {
  ArrivalListener, ArrivingRequest, Around, AroundInfo, CallerListener, IncomingRequest, RequestListener, ResponseListener,
} from './core/extensions/listeners'
export type { RowFilter } from './core/extensions/row-filters'
export type { WatchedRow, WatchedTable, Watcher } from './core/extensions/watchers'
export type { OpenedList, OpenList, Scan, ScannedColumn, ScannedColumns, ScannedRecord, ScanOptions } from './core/entries/scan'
export type { SaveCounts, SaveOptions, SaveRecords } from './core/entries/save'
export type { BodyStreamOptions, RouteRequest } from './core/request/route-request'
export type { ApiResponse } from './core/extensions/response'
/** The request's event. This export gives `ctx.event` its type. */
export type { ApiEvent } from './http/platform/h3'
export type { Operation } from '../shared/operations'
export type { ModuleImport } from '../shared/types/module-import'
export type { RegistrationOptions, ResourceRegistry } from '../shared/types/registry'

/**
 * Declares who can access a resource, and which of its rows a caller can see.
 * @example
 * export const postsAuth = defineResourceAuth<typeof posts>({
 *   permissions: { read: true, create: ctx => ctx.user !== null, update: 'posts:write', delete: ['admin', 'editor'] },
 *   listFilter: (table, ctx) => ctx.user ? undefined : eq(table.status, 'published'),
 * })
 */
export function defineResourceAuth<T extends ResourceSource>(auth: ResourceAuth<T>): ResourceAuth<T> {
  return auth
}

/**
 * Declares functions that run before and after the operations on a resource.
 * @example
 * export const postsHooks = defineResourceHooks<typeof posts>({
 *   beforeCreate: data => ({ ...data, slug: slugify(data.title!) }),
 * })
 */
export function defineResourceHooks<T extends ResourceSource>(hooks: ResourceHooks<T>): ResourceHooks<T> {
  return hooks
}

/**
 * Declares the schemas of a resource's bodies. Any Standard Schema works. A missing schema is generated from the table.
 * @example
 * export const postsValidation = defineResourceValidation({ create: z.object({ title: z.string().min(3) }) })
 */
export function defineResourceValidation<V extends ResourceValidation>(validation: V): V {
  return validation
}

/**
 * Declares the form of the values of columns in requests and responses. Custom types need it if JSON cannot represent their values.
 * @example
 * export const articlesWire = defineResourceWire<typeof articles>()({
 *   tags: { encode: tags => [...tags], decode: json => new Set(z.array(z.string()).parse(json)) },
 * })
 */
export function defineResourceWire<T extends ResourceSource>(): <W extends ResourceWire<T>>(wire: W) => W {
  return wire => wire
}

type ColumnName<T extends ResourceSource> = (
  T['_'] extends { readonly columns: infer C } ? keyof C : T['_'] extends { readonly selectedFields: infer S } ? keyof S : never
) & string

/** The second argument of `defineResource`: the keys of an authorization, and the other parts of a registration. */
export interface ResourceOptions<
  T extends ResourceSource, V extends ResourceValidation = ResourceValidation, C extends ComputedFields<T> = ComputedFields<T>,
> extends Omit<ResourceAuth<T>, 'fields'> {
  /** Rules for who can read and write a field. `false` also refuses a caller with `'*'`. */
  readonly fields?: ResourceAuth<T>['fields'] & { readonly [K in keyof NoInfer<C>]?: Pick<FieldRule, 'read'> }
  /** The authorization as one object, such as one from another file. Then `permissions` and its other keys are not allowed beside it. */
  readonly authorization?: ResourceAuth<T>
  /** Schemas for `create` and `update`. If a schema is missing, the server generates it from the table. */
  readonly validation?: V
  /** Hooks before and after the operations of the resource. */
  readonly hooks?: ResourceHooks<T>
  /** The form of the values of columns in requests and responses. Custom types need it if JSON cannot represent their values. */
  readonly wire?: ResourceWire<T>
  /**
   * Read-only fields whose values the database computes with SQL. Requests use them like columns. The build reads their names, so write
   * the object out, or import it from another file.
   * @default {}
   * @example { wordCount: computed.integer(t => sql`length(${t.body}) - length(replace(${t.body}, ' ', '')) + 1`) }
   */
  readonly computed?: C
  /** The Drizzle `relations()` of the table, imported from another file. */
  readonly relations?: object
  /**
   * The columns that identify a row of a view or of a table without a primary key: `'code'`, or `['warehouseId', 'code']`. They must be
   * NOT NULL, and no two rows can have the same values. The build reads it, so write a literal.
   * @default the primary key, otherwise the shortest unique constraint or index over columns that are NOT NULL
   */
  readonly key?: ColumnName<T> | readonly ColumnName<T>[]
  /**
   * The columns of a view that contain the primary key of a row of another resource, with the name of this resource, such as
   * `{ authorId: 'users' }`. Both resources get a relation, as from a foreign key. Only views have this option. The build reads it, so
   * write a literal.
   * @default {}
   */
  readonly references?: Readonly<Partial<Record<ColumnName<T>, string>>>
  /**
   * The resources whose commits change the rows of a view: those of the tables that it reads. The response cache stores the rows of a view
   * only if this option names them. Only views have this option. The build reads this list, so write it as a literal.
   */
  readonly tracks?: readonly string[]
  /**
   * The children and links that the body of a create or an update can contain, by relation: what it can do with them. A relation to
   * children has `create`, `update` and `delete`. A many-to-many relation has `link` and `unlink`.
   * @default none
   * @example
   * nested: { lines: ['create', 'update', 'delete'], tags: ['link', 'unlink'] }
   */
  readonly nested?: Readonly<Record<string, readonly NestedAction[]>>
  /**
   * Names of fields that no response contains and no query can use. The build reads this list, so write it as a literal.
   * @default []
   */
  readonly hiddenFields?: readonly (ColumnName<T> | (keyof NoInfer<C> & string))[]
  /**
   * Names of fields that the server removes from request bodies. The build reads this list, so write it as a literal.
   * @default []
   */
  readonly protectedFields?: readonly ColumnName<T>[]
  /**
   * Operations that the resource does not have for any caller. The build reads this list, so write it as a literal.
   * @default []
   */
  readonly disabled?: readonly Operation[]
  /**
   * `true` refuses updates, deletes, restores and purges without the tag of the record. The build reads it, so write a literal.
   * @default false
   */
  readonly requireIfMatch?: boolean
  /**
   * Labels and custom JSON data for tools and forms. The build reads this object, so write it as a literal.
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The parts of a resource that only the server loads. The build reads the table and the data from the text of the file. */
export interface DefinedResource<T extends ResourceSource = Table, V extends ResourceValidation = ResourceValidation, C = unknown> {
  readonly authorization: ResourceAuth<T>
  readonly validation: V
  readonly hooks: ResourceHooks<T> | undefined
  readonly wire: ResourceWire<T> | undefined
  readonly computed: C
}

/**
 * Registers a resource. Use it as the default export of a file in `server/resources`. The name of the file is the name of the resource.
 * @param table the Drizzle table or view, imported from another file
 * @example
 * // server/resources/posts.ts
 * export default defineResource(posts, {
 *   permissions: { read: true, create: ctx => ctx.user !== null, update: 'posts:write' },
 * })
 */
export function defineResource<
  T extends ResourceSource, V extends ResourceValidation = ResourceValidation, C extends ComputedFields<T> = Record<never, never>,
>(
  table: T,
  options: ResourceOptions<T, V, C> = {},
): DefinedResource<T, V, C> {
  const { authorization = pickAuthorization(options), validation, hooks, wire, computed } = options
  const defined = { authorization, validation: validation as V, hooks, wire, computed: computed as C }
  return Object.freeze(Object.defineProperty(defined, DEFINED, { value: Object.freeze({ table, options }) }))
}

function pickAuthorization<T extends ResourceSource>(options: ResourceOptions<T>): ResourceAuth<T> {
  return Object.fromEntries(Object.entries(options).filter(([key, value]) => Object.hasOwn(AUTHORIZATION_KEYS, key) && value !== undefined))
}
