/** Finds the records that point to a record, and those that the columns of a list point to. */
import type { RecordId } from '../../shared/types/resources'
import type { DescribedField, DescribedResource } from '../../shared/types/description'
import { toParameter } from './filters'
import { labelFields } from './records'
import type { Schema } from './schema'

/** The parameter of the list of `target` that selects the records of one record of `source`. `undefined` unless one column points there. */
export function pointingHere(
  target: Pick<DescribedResource, 'fields'>, source: string, { primaryKey }: Pick<DescribedResource, 'primaryKey'>, id: RecordId,
): string | undefined {
  const [field, ...others] = Object.keys(target.fields).filter(name => target.fields[name]!.references?.resource === source)
  if (field === undefined || others.length > 0) return undefined
  const { references, operators } = target.fields[field]!
  if (primaryKey.join() !== references!.field || !operators.includes('$eq')) return undefined
  return `filter=${encodeURIComponent(toParameter({ field, operator: '$eq', value: String(id) }))}`
}

/** The `include` parameter that reads the names of the records to which these columns point, up to the server's limit of includes. */
export function includeNames(columns: readonly DescribedField[], { find, limits }: Schema): Record<string, { fields: string[] }> {
  const includes = columns.flatMap(({ references: { relation, resource = '' } = {} }) => {
    const target = find(resource)
    const fields = target ? labelFields(target) : []
    return relation !== undefined && fields.length > 0 ? [[relation, { fields }] as const] : []
  })
  return Object.fromEntries(includes.slice(0, limits.value?.include.maxIncludes ?? 0))
}
