/** What the admin knows about the files of a resource. */
import type { DescribedResource } from '../../../shared/types/description'
import type { FileField } from '../options'
import type { FileFeatures } from '../shared/admin'

/** The fields with files that the caller can read. */
export function findFileFields(fields: readonly FileField[], name: string, described: DescribedResource): FileFeatures {
  const files = fields.filter(({ resource, field }) => resource === name && described.fields[field]?.readable)
  if (files.length === 0) return {}
  return {
    files: Object.fromEntries(files.map(({ field, accepted, maxSize, multiple }) =>
      [field, { accept: accepted.map(({ type }) => type), maxSize, multiple }])),
  }
}
