/** The two resources of webhooks, and the access to their rows. */
import type { Table } from 'drizzle-orm'
import type { PluginServer } from '../../../server/plugin/server'
import type { PluginTable } from '../../../server/plugin/table'
import type { WebhooksPolicy } from '../options'
import { assertTables } from './rows'

export interface OwnTable {
  readonly name: string
  readonly table: Table
  readonly access: PluginTable
  /** Converts the `:id` of a path to the id of a row. Returns `undefined` if no row can have it. */
  readonly toRowId: (id: string) => string | undefined
}

export interface Tables {
  readonly webhooks: OwnTable
  readonly deliveries: OwnTable
  /** The names of both resources. Their own changes have no events. */
  readonly names: ReadonlySet<string>
}

/** @throws When a resource is not registered, or its table lacks a column. */
export function openTables({ resource, deliveries }: WebhooksPolicy, server: PluginServer): Tables {
  const open = (name: string): OwnTable => {
    const access = server.table(name)
    const { table, canonicalId } = server.resources.get(name)!
    return { name, table, access, toRowId: canonicalId }
  }
  const tables = { webhooks: open(resource), deliveries: open(deliveries), names: new Set([resource, deliveries]) }
  assertTables(server.resources.get(resource)!, server.resources.get(deliveries)!)
  return tables
}
