/** Functions that add types to the files of a registration. They return their argument. This file loads only the plugin contract. */
import type { Table } from 'drizzle-orm'
import type { ResourceAuth, ResourceHooks, ResourceValidation } from './registration'

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
  Tenant,
} from './registration'
export { defineAutoApiPlugin, type AutoApiPlugin, type PluginRoute, type PluginTask } from './plugin/contract'
export type { PluginField, PluginResource, PluginServer } from './plugin/server'
export type { PluginTable } from './plugin/table'
export type { UpdateRow } from './core/update-row'
export type { CredentialCaller, FindCredentialCaller } from './core/credentials'
export type {
  Change, ChangedRows, ChangedRowsInsert, ChangedRowsValues, ChangedValue, CommitListener, CommitParticipant, CommitStatement,
} from './core/changes'
export type { Around, AroundInfo, CallerListener, IncomingRequest, RequestListener, ResponseListener } from './core/listeners'
export type { RowFilter } from './core/row-filters'
export type { OpenedList, OpenList, Scan, ScannedColumn, ScannedColumns, ScannedRecord, ScanOptions } from './core/scan'
export type { SaveCounts, SaveOptions, SaveRecords } from './core/save'
export type { BodyStreamOptions, RouteRequest } from './core/route-request'
export type { ApiResponse } from './core/response'
/** The request's event. This export gives `ctx.event` its type. */
export type { ApiEvent } from './http'
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
export function defineResourceAuth<T extends Table>(auth: ResourceAuth<T>): ResourceAuth<T> {
  return auth
}

/**
 * Declares functions that run before and after the operations on a resource.
 * @example
 * export const postsHooks = defineResourceHooks<typeof posts>({
 *   beforeCreate: data => ({ ...data, slug: slugify(data.title!) }),
 * })
 */
export function defineResourceHooks<T extends Table>(hooks: ResourceHooks<T>): ResourceHooks<T> {
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
