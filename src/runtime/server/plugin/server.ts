/** What a plugin receives when it is set up: the resources, the configuration and the functions of the server. Everything is read-only. */
import type { Column, Table } from 'drizzle-orm'
import type { AutoApiConfig } from '../../shared/config'
import type { ApiDescription } from '../../shared/types/description'
import type { Kind } from '../../shared/wire'
import type { Api } from '../core/api'
import { everyRow, type Plan } from '../core/access/row-scope'
import { authorizeUpdate, type AuthorizeUpdate } from '../core/entries/authorized-update'
import { createSystemCall } from '../core/request/call'
import { didYouMean } from '../../shared/suggest'
import type { Database } from '../core/replicas/database'
import { describeFor } from '../core/describe/describe'
import { getRecord, type GetRecord } from '../core/entries/get-record'
import { saveRecords, type SaveRecords } from '../core/entries/save'
import { openList, scanList, type OpenList, type Scan } from '../core/entries/scan'
import { readStoredText } from '../core/read/stored-text'
import type { Services } from '../core/extensions/services'
import type { CallerContext } from '../core/entries/call'
import { INVALID, type Field } from '../schema/field'
import type { Resource } from '../schema/model'
import { toId, toKey } from '../schema/record-id'
import { updateRow, type UpdateRow } from '../core/entries/update-row'
import { createPluginTable, type PluginTable } from './table'
import { findPresetTable } from '../schema/preset-tables'
import type { PresetName } from '../schema/presets/mark'
import { createFindStorage, type FindStorage, type StorageMounts } from './storage'

/** A column of a resource. */
export interface PluginField {
  /** The property name in the table, which is the name in requests and responses. */
  readonly name: string
  readonly column: Column
  /** The kind of its JSON values. */
  readonly kind: Kind
  readonly nullable: boolean
  /** Whether an insert can omit the column. */
  readonly optional: boolean
  /** Whether no response contains the column. */
  readonly hidden: boolean
  /** Whether a body can contain this JSON value for the column. The value is not null. */
  readonly accepts: (value: unknown) => boolean
  /** Whether a client can set the column in the body of a create or an update. */
  readonly writable: boolean
}

/** A registered resource. */
export interface PluginResource {
  readonly name: string
  readonly table: Table
  /** Every column, hidden ones included, by property name. */
  readonly fields: ReadonlyMap<string, PluginField>
  /** The names of the key columns, in key order. */
  readonly primaryKey: readonly string[]
  /** The name of the tenant column. It is absent if the resource is not tenant-scoped. */
  readonly tenant?: string
  /** The name of the column that marks rows in the trash. It is absent if the resource has no trash. */
  readonly deletedAt?: string
  /** The related resource of each relation. */
  readonly relations: ReadonlyMap<string, string>
  /** Converts an id that a client sent to the form in responses. Returns `undefined` if no row can have the id. */
  readonly canonicalId: (id: string) => string | undefined
}

/** The argument of `setup` of a plugin. */
export interface PluginServer {
  /** The registered resources by name. */
  readonly resources: ReadonlyMap<string, PluginResource>
  /** The resolved module options, deeply frozen. */
  readonly config: AutoApiConfig
  /** Describes what the caller of a context can use, as `GET /_schema` does. */
  readonly describe: (ctx: CallerContext) => Promise<ApiDescription>
  /** Finds the driver of a storage in `nitro.storage`. Returns `undefined` if no storage has the name. */
  readonly storage: FindStorage
  /**
   * Returns the table of a resource, to read and write its rows without any rule. Use it only for tables that belong to the plugin.
   * @throws When the resource is not registered.
   */
  readonly table: (resource: string) => PluginTable
  /**
   * Updates one row as an ordinary update: row scope, hooks, plugins that take part in commits. The values can contain columns that no
   * client can write. Returns the record with the fields that the caller can read. Authorize the caller first.
   */
  readonly update: UpdateRow
  /** Finds the table that a preset has made, among the exports of the app's schema. */
  readonly presetTable: (preset: PresetName) => Table | undefined
  /** Reads a whole list in batches, with the permissions, the fields and the row scope of the list route. */
  readonly scan: Scan
  /** Authorizes and plans a whole list. Then it can be counted and read in batches. */
  readonly openList: OpenList
  /** Creates and updates many records in one commit, with the rules of bulk requests. */
  readonly saveRecords: SaveRecords
  /** Reads one record, with the permissions, the fields, the row scope and the hooks of the get route. */
  readonly get: GetRecord
  /** Updates columns that clients cannot write, on behalf of the caller. It checks the caller before the request's body is read. */
  readonly authorizeUpdate: AuthorizeUpdate
  /** Reads columns of rows of all tenants and of the trash, without the rules of any caller. For tasks. */
  readonly readStored: ReadStored
  /** What the plugins of this package offer to each other. */
  readonly services: Services
  /** Returns the runtime configuration of Nitro. On some platforms, it comes with the event. It is empty outside of Nitro. */
  readonly runtimeConfig: (event?: unknown) => Readonly<Record<string, unknown>>
}

/** The stored columns of a row, as text. NULL is null. */
export interface StoredColumns {
  readonly id: string
  readonly texts: Readonly<Record<string, string | null>>
}

/** @param ids as the API returns them. Ids without a row are left out of the result. */
export type ReadStored = (
  resource: string, ids: readonly string[], fields: readonly string[], event?: object,
) => Promise<readonly StoredColumns[]>

export interface PluginServerOptions {
  /** Returns the API, which does not exist yet while its plugins are set up. */
  readonly api: () => Api
  readonly useRuntimeConfig?: (event?: unknown) => unknown
  /** All exports of every file that contains a registered table. @default none */
  readonly modules?: readonly Record<string, unknown>[]
  readonly resources: ReadonlyMap<string, Resource>
  readonly config: AutoApiConfig
  readonly services: Services
  readonly useStorage: (() => StorageMounts) | undefined
  readonly database: Database
}

export function createPluginServer(
  { api, resources, modules = [], config, services, useStorage, useRuntimeConfig, database }: PluginServerOptions,
): PluginServer {
  return Object.freeze({
    resources: new Map([...resources].map(([name, resource]) => [name, toPluginResource(resource)])),
    config: freezeDeeply(config),
    describe: (ctx: CallerContext) => describeFor(ctx),
    storage: createFindStorage(useStorage),
    table(name: string) {
      const resource = resources.get(name)
      if (!resource) throw new Error(`[auto-api] There is no resource \`${name}\`.${didYouMean(name, [...resources.keys()])}`)
      return createPluginTable(resource, database)
    },
    update: updateRow,
    presetTable: (preset: PresetName) => findPresetTable(modules, preset),
    scan: scanList,
    openList,
    saveRecords,
    get: getRecord,
    authorizeUpdate,
    readStored: createReadStored(api),
    services,
    runtimeConfig: (event?: unknown) => (useRuntimeConfig?.(event) ?? {}) as Readonly<Record<string, unknown>>,
  })
}

function createReadStored(findApi: () => Api): ReadStored {
  return async (name, ids, fields, event) => {
    const api = findApi()
    const resource = api.resources.get(name)
    if (!resource) throw new Error(`[auto-api] readStored(): there is no resource \`${name}\`.`)
    const call = createSystemCall(api, resource, 'read', api.database.engine(event), api.database.get(event))
    const keys = ids.flatMap((id) => {
      const key = toKey(resource, id)
      return key ? [key] : []
    })
    const columns = fields.map(field => resource.fields.get(field)!)
    const rows = await readStoredText(everyRow<Plan>({ resource, trash: 'both' }), keys, columns, call)
    return rows.map(({ key, texts }) => ({
      id: toId(resource, key),
      texts: Object.fromEntries(fields.map((field, index) => [field, texts[index]!])),
    }))
  }
}

function toPluginResource(resource: Resource): PluginResource {
  const { name, table, fields, primaryKey, tenant, roles, relations, hidden, auth, writable } = resource
  const isHidden = (field: string) => hidden.has(field) || auth?.fields?.[field]?.read === false
  const toPluginField = ({ name, column, wire, nullable, optional, fromJson }: Field): PluginField => Object.freeze({
    name, column, kind: wire, nullable, optional, hidden: isHidden(name), accepts: (value: unknown) => fromJson(value) !== INVALID,
    writable: writable.create.has(name) || writable.update.has(name),
  })
  return Object.freeze({
    name,
    table,
    fields: new Map([...fields.values()].filter(({ stored }) => stored).map(field => [field.name, toPluginField(field)])),
    primaryKey: Object.freeze(primaryKey.map(({ name }) => name)),
    ...tenant && { tenant: tenant.name },
    ...roles.deletedAt && { deletedAt: roles.deletedAt.name },
    relations: new Map([...relations.values()].map(({ name, target }) => [name, target.name])),
    canonicalId(id: string) {
      const key = toKey(resource, id)
      return key && toId(resource, key)
    },
  })
}

/** Freezes plain data in place. Also descends into frozen objects, because their children can be mutable. */
function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const child of Object.values(value)) freezeDeeply(child)
  return Object.freeze(value)
}
