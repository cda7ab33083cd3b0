/** What a plugin receives when it is set up: the resources, the configuration and the functions of the server. Everything is read-only. */
import type { Column, Table } from 'drizzle-orm'
import type { AutoApiConfig } from '../../shared/config'
import type { ApiDescription } from '../../shared/types/description'
import type { Kind } from '../../shared/wire'
import { describeFor } from '../core/description/describe'
import { saveRecords, type SaveRecords } from '../core/save'
import { openList, scanList, type OpenList, type Scan } from '../core/scan'
import type { CallerContext } from '../core/visible-rows'
import { INVALID, type Field } from '../schema/field'
import type { Resource } from '../schema/model'
import { createFindStorage, type FindStorage, type StorageMounts } from './storage'

/** A column of a resource. */
export interface PluginField {
  /** The property name in the table, which is the name in requests and responses. */
  readonly name: string
  readonly column: Column
  readonly kind: Kind
  readonly nullable: boolean
  /** Whether an insert can omit the column. */
  readonly optional: boolean
  /** Whether no response contains the column. */
  readonly hidden: boolean
  /** Whether a body can contain this JSON value for the column. The value is not null. */
  readonly accepts: (value: unknown) => boolean
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
  /** Reads a whole list in batches, with the permissions, the fields and the row scope of the list route. */
  readonly scan: Scan
  /** Authorizes and plans a whole list. Then it can be counted and read in batches. */
  readonly openList: OpenList
  /** Creates and updates many records in one commit, with the rules of bulk requests. */
  readonly saveRecords: SaveRecords
}

export interface PluginServerOptions {
  readonly resources: ReadonlyMap<string, Resource>
  readonly config: AutoApiConfig
  readonly useStorage: (() => StorageMounts) | undefined
}

export function createPluginServer({ resources, config, useStorage }: PluginServerOptions): PluginServer {
  return Object.freeze({
    resources: new Map([...resources].map(([name, resource]) => [name, toPluginResource(resource)])),
    config: freezeDeeply(config),
    describe: (ctx: CallerContext) => describeFor(ctx),
    storage: createFindStorage(useStorage),
    scan: scanList,
    openList,
    saveRecords,
  })
}

function toPluginResource({ name, table, fields, primaryKey, tenant, roles, relations, hidden }: Resource): PluginResource {
  const toPluginField = ({ name, column, kind, nullable, optional, fromJson }: Field): PluginField => Object.freeze({
    name, column, kind, nullable, optional, hidden: hidden.has(name), accepts: (value: unknown) => fromJson(value) !== INVALID,
  })
  return Object.freeze({
    name,
    table,
    fields: new Map([...fields.values()].map(field => [field.name, toPluginField(field)])),
    primaryKey: Object.freeze(primaryKey.map(({ name }) => name)),
    ...tenant && { tenant: tenant.name },
    ...roles.deletedAt && { deletedAt: roles.deletedAt.name },
    relations: new Map([...relations.values()].map(({ name, target }) => [name, target.name])),
  })
}

/** Freezes plain data in place. Also descends into frozen objects, because their children can be mutable. */
function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const child of Object.values(value)) freezeDeeply(child)
  return Object.freeze(value)
}
