/** Finds the list of the records that point to a record. */
import type { RecordId } from '../../shared/types/resources'
import type { DescribedResource } from '../../shared/types/description'
import { toParameter } from './filters'

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
