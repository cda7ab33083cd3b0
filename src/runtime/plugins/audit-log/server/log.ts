/** The audit log of an API: its table, the resources that it records, and the columns whose values it leaves out. */
import type { Column, Table } from 'drizzle-orm'
import { didYouMean } from '../../../shared/suggest'
import type { Api } from '../../../server/kit/call'
import { defineService } from '../../../server/kit/listen'
import type { PluginResource, PluginServer } from '../../../server/plugin/server'
import type { Resource } from '../../../server/kit/rows'
import type { AuditLogOptions } from '../options'

export const ENTRY_COLUMNS = [
  'id', 'at', 'kind', 'resource', 'recordId', 'otherId', 'rootId', 'userId', 'tokenId', 'via', 'tenantId', 'requestId', 'ip', 'columns',
  'before', 'after', 'reason',
] as const

/** Columns that contain JSON. Filters and sorts cannot use them, so they disclose nothing of a value that the reader cannot read. */
const JSON_COLUMNS = ['columns', 'before', 'after'] as const

export type EntryColumns = Readonly<Record<typeof ENTRY_COLUMNS[number], Column>>

/** Returns the columns of the table or of an alias of it. */
export const columnsOf = (table: Table) => table as unknown as EntryColumns

export interface AuditLog {
  /** The name of the resource. */
  readonly resource: string
  readonly table: Table
  readonly records: (resource: string) => boolean
  /** The columns of a resource whose values are never recorded. */
  readonly withoutValues: (resource: string) => readonly string[]
}

const AUDIT_LOG = defineService<AuditLog>('audit log')

/**
 * @throws When the options name a resource or a column that does not exist, or the table does not fit.
 */
export function openAuditLog(options: AuditLogOptions, server: PluginServer): AuditLog {
  const { resource: name = 'auditLog', resources = [...server.resources.keys()], except = [], secrets = {} } = options
  const own = requireResource(server, name, 'resource')
  assertTable(own)
  assertUnrelated(own, server)
  for (const recorded of options.resources ?? []) requireResource(server, recorded, 'resources')
  for (const left of except) requireResource(server, left, 'except')
  for (const [resource, columns] of Object.entries(secrets)) assertColumns(requireResource(server, resource, 'secrets'), columns)
  const recorded = new Set(resources.filter(resource => resource !== name && !except.includes(resource)))
  const hidden = new Map([...server.resources.values()].map(({ name, fields }) => [
    name,
    [...fields.values()].filter(field => field.hidden || secrets[name]?.includes(field.name)).map(field => field.name),
  ]))
  const log: AuditLog = {
    resource: name,
    table: own.table,
    records: resource => recorded.has(resource),
    withoutValues: resource => hidden.get(resource) ?? [],
  }
  server.services.set(AUDIT_LOG, log)
  return log
}

/** Finds the audit log. While plugins are set up, only those that are listed after it find it. */
export const findAuditLog = ({ services }: Pick<Api, 'services'>): AuditLog | undefined => services.get(AUDIT_LOG)

/** Returns the resource of the audit log, with its fields. */
export const resourceOf = ({ resources }: Pick<Api, 'resources'>, { resource }: AuditLog): Resource => resources.get(resource)!

function requireResource({ resources }: PluginServer, name: string, option: string): PluginResource {
  const resource = resources.get(name)
  if (!resource)
    throw new Error(
      `[auto-api] \`auditLog.${option}\` names \`${name}\`, which is not a registered resource.${didYouMean(name, [...resources.keys()])}`,
    )
  return resource
}

function assertTable({ name, fields, primaryKey }: PluginResource): void {
  const missing = ENTRY_COLUMNS.filter(column => !fields.has(column))
  const hint = 'Create the table with `auditLogTable()` of `nuxt-auto-api/schema/…`.'
  if (missing.length > 0)
    throw new Error(`[auto-api] auditLog: the table of \`${name}\` has no column \`${missing.join('`, `')}\`. ${hint}`)
  const wrong = JSON_COLUMNS.find(column => fields.get(column)!.kind !== 'json')
  if (wrong) throw new Error(`[auto-api] auditLog: the column \`${wrong}\` of \`${name}\` is not a JSON column. ${hint}`)
  if (primaryKey.join() !== 'id') throw new Error(`[auto-api] auditLog: the primary key of \`${name}\` is not \`id\`. ${hint}`)
}

/** An include of entries would return them without the rules of the reader. */
function assertUnrelated({ name }: PluginResource, { resources }: PluginServer): void {
  for (const { name: source, relations } of resources.values()) {
    const [relation] = [...relations].find(([, target]) => target === name) ?? []
    if (relation === undefined) continue
    throw new Error(
      `[auto-api] auditLog: the relation \`${source}.${relation}\` leads to \`${name}\`. Remove it: entries are read at /audit-log and `
      + `/${source}/:id/history.`,
    )
  }
}

function assertColumns({ name, fields }: PluginResource, columns: readonly string[]): void {
  const unknown = columns.find(column => !fields.has(column))
  if (unknown === undefined) return
  const suggestion = didYouMean(unknown, [...fields.keys()])
  throw new Error(`[auto-api] \`auditLog.secrets.${name}\` names \`${unknown}\`, which is no column of the table.${suggestion}`)
}
