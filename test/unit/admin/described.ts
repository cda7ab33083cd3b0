/** Descriptions of resources, for the functions of the admin. */
import type { DescribedField, DescribedResource } from '../../../src/runtime/shared/types/description'

type Field = Partial<DescribedField>

export const text = (field: Field = {}): Field =>
  ({ kind: 'text', searchable: true, operators: ['$eq', '$ne', '$gt', '$in', '$nin', '$like', '$null'], ...field })

export function resource(fields: Readonly<Record<string, Field>>, more: Partial<DescribedResource> = {}): DescribedResource {
  const described = Object.entries(fields).map(([name, field]): [string, DescribedField] => [
    name,
    {
      label: name,
      kind: 'text',
      nullable: false,
      readable: true,
      writable: { create: true, update: true },
      required: false,
      hasDefault: false,
      primaryKey: false,
      operators: [],
      sortable: true,
      searchable: false,
      aggregates: [],
      metadata: {},
      ...field,
    },
  ])
  return {
    label: 'Posts',
    capabilities: {
      canRead: true,
      canCreate: true,
      canUpdate: true,
      canDelete: true,
      canAggregate: true,
      canRestore: true,
      canPurge: true,
      canViewDeleted: true,
    },
    primaryKey: described.filter(([, { primaryKey }]) => primaryKey).map(([name]) => name),
    fields: Object.fromEntries(described),
    relations: {},
    validation: {},
    tenantScoped: false,
    metadata: {},
    ...more,
  }
}
