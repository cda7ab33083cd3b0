/** What a list can show of a resource: the fields that the caller can read, and the numbers of related records. */
import { countField } from '../../app/count-field'
import type { Row } from '../../app/any-resource'
import { COUNT_PROPERTY, countedRelation, countName } from '../../shared/relation-counts'
import type { DescribedField, DescribedResource } from '../../shared/types/description'
import { defaultColumns } from './records'

/** The columns by name. A number such as `comments.$count` has the description of a field, so that lists show and sort it as one. */
export function columnsOf({ fields, relations }: Pick<DescribedResource, 'fields' | 'relations'>): Record<string, DescribedField> {
  const numbers = Object.entries(relations).filter(([, { kind, countable }]) => kind !== 'one' && countable)
  return {
    ...Object.fromEntries(numbers.map(([name, relation]) => [countName(name), countField(relation)])),
    // A field whose own name is that of a number takes precedence, as in `sort`.
    ...Object.fromEntries(Object.entries(fields).filter(([, { readable }]) => readable)),
  }
}

/** The relation whose records a column counts; `undefined` for a field. */
export const countedBy = ({ fields }: Pick<DescribedResource, 'fields'>, column: string): string | undefined =>
  Object.hasOwn(fields, column) ? undefined : countedRelation(column)

/** The columns that a list shows first. Numbers of related records are shown only if the options name them. */
export function firstColumns(resource: DescribedResource, chosen: readonly string[] = []): string[] {
  const columns = columnsOf(resource)
  return chosen.length > 0 ? chosen.filter(name => Object.hasOwn(columns, name)) : defaultColumns(resource)
}

/** A record whose numbers of related records have the names of their columns. */
export function withCounts(row: Row): Row {
  const counts = Object.entries((row[COUNT_PROPERTY] ?? {}) as Readonly<Record<string, number>>)
  return counts.length === 0 ? row : { ...Object.fromEntries(counts.map(([name, count]) => [countName(name), count])), ...row }
}
