/** Describes the tables whose rows a commit changes, registered or not: their columns, keys and tenant. */
import type { Table } from 'drizzle-orm'
import { createFields } from '../../../../schema/fields'
import type { Field } from '../../../../schema/field'
import type { GraphNode } from '../../../../schema/graph'
import type { Resource } from '../../../../schema/model'
import { shape } from '../../../sql/shape'
import { allFields, select, type Selection } from '../../../access/fields'
import type { Call } from '../../../context'

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

const tables = new WeakMap<Resource | GraphNode, ChangedTable>()

export function changedTable(call: Call, source: Resource | GraphNode): ChangedTable {
  let table = tables.get(source)
  if (!table) tables.set(source, table = 'fields' in source ? ofResource(call, source) : ofNode(call, source))
  return table
}

function ofResource({ api }: Call, resource: Resource): ChangedTable {
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

function ofNode(call: Call, node: GraphNode): ChangedTable {
  if (node.resource) return changedTable(call, node.resource)
  const { table, facts, roles } = node
  const { multiTenancy } = call.api.config
  const fields = [...createFields(facts).values()]
  const tenant = multiTenancy && multiTenancy.enabled ? fields.find(({ name }) => name === multiTenancy.tenantIdField) : undefined
  const isKey = ({ name }: Field) => facts.primaryKey.includes(name)
  const selection = (accepts: (field: Field) => boolean): Selection => {
    const selected = fields.filter(accepts)
    const key = shape`changed ${node}${selected.map(({ column }) => column)}`
    return Object.freeze({ key, fields: selected, byName: new Map(selected.map(field => [field.name, field])) })
  }
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
