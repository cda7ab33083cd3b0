/** Describes the number of related records like a field. */
import type { DescribedField, DescribedRelation } from '../shared/types/description'

/** The field `comments.$count` of a list. It is no field of a record, so no filter and no body has it. */
export const countField = ({ label, filterable }: DescribedRelation): DescribedField => ({
  label, kind: 'integer', nullable: false, readable: true, writable: { create: false, update: false }, required: false, hasDefault: false,
  primaryKey: false, operators: [], sortable: filterable, searchable: false, aggregates: [], metadata: {},
})
