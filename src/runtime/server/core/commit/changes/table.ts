/** Describes the tables whose rows a commit changes, registered or not: their columns, keys and tenant. */
import type { Table } from 'drizzle-orm'
import { createFields } from '../../../schema/fields'
import type { Field } from '../../../schema/field'
import type { GraphNode } from '../../../schema/graph'
import type { Resource } from '../../../schema/model'
import { allFields, createSelection, select, type Selection } from '../../access/fields'
import { memoizedPair } from '../../memoized'
import type { Call } from '../../request/session'

export interface ChangedTable {
  readonly table: Table
  /** The table's name in the database. */
  readonly name: string
  /** The resource that changes name. It is absent if the table is not registered. */
  readonly resource?: string
  readonly primaryKey: readonly Field[]
  readonly tenant?: Field
  /** Whether a delete moves rows to the trash. */
  readonly hasTrash: boolean
  /** The primary key. */
  readonly key: Selection
  /** The primary key and the tenant. */
  readonly identity: Selection
  /** Every column. */
  readonly row: Selection
}

export const changedTable = ({ api }: Pick<Call, 'api'>, source: Resource | GraphNode): ChangedTable => tableOf(api, source)

const tableOf = memoizedPair((api: Call['api'], source: Resource | GraphNode): ChangedTable =>
  'fields' in source ? ofResource(api, source) : ofNode(api, source))

function ofResource(api: Call['api'], resource: Resource): ChangedTable {
  const { table, facts, primaryKey, tenant, roles } = resource
  const isKey = (field: Field) => primaryKey.includes(field)
  return Object.freeze({
    table,
    name: facts.name,
    ...api.resources.get(resource.name) === resource && { resource: resource.name },
    primaryKey,
    ...tenant && { tenant },
    hasTrash: roles.deletedAt !== undefined,
    key: select(resource, isKey),
    identity: select(resource, field => isKey(field) || field === tenant),
    row: allFields(resource),
  })
}

function ofNode(api: Call['api'], node: GraphNode): ChangedTable {
  if (node.resource) return tableOf(api, node.resource)
  const { table, facts, roles } = node
  const { multiTenancy } = api.config
  const fields = [...createFields(facts).values()]
  const tenant = multiTenancy && multiTenancy.enabled ? fields.find(({ name }) => name === multiTenancy.tenantIdField) : undefined
  const isKey = ({ name }: Field) => facts.primaryKey.includes(name)
  const selection = (accepts: (field: Field) => boolean) => createSelection(fields.filter(accepts))
  return Object.freeze({
    table,
    name: facts.name,
    primaryKey: facts.primaryKey.map(name => fields.find(field => field.name === name)!),
    ...tenant && { tenant },
    hasTrash: roles.deletedAt !== undefined,
    key: selection(isKey),
    identity: selection(field => isKey(field) || field === tenant),
    row: selection(() => true),
  })
}
