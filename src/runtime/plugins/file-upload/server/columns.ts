/** Checks at startup that each file column exists and can contain a file. */
import { didYouMean } from '../../../shared/suggest'
import type { PluginField, PluginServer } from '../../../server/plugin/server'
import type { FileField } from '../options'

/** The length of a text column that holds one file: a name of 150 characters is up to 900 in JSON. */
const MIN_LENGTH = 1500

/** @throws When a resource or a column does not exist, or a column cannot contain files. */
export function assertColumns(fields: readonly FileField[], { resources }: PluginServer): void {
  for (const { resource: name, field: fieldName } of fields) {
    const resource = resources.get(name)
    const where = `[auto-api] fileUpload: \`${name}${resource ? `.${fieldName}` : ''}\``
    if (!resource) throw new Error(`${where} is not a registered resource.${didYouMean(name, [...resources.keys()])}`)
    const field = resource.fields.get(fieldName)
    if (!field) throw new Error(`${where} is not a column.${didYouMean(fieldName, [...resource.fields.keys()])}`)
    const problem = findProblem(field, resource.primaryKey.includes(fieldName) || resource.tenant === fieldName)
    if (problem) throw new Error(`${where} ${problem}`)
  }
}

function findProblem({ kind, column, nullable, writable }: PluginField, isKey: boolean): string | undefined {
  if (isKey) return 'identifies rows or tenants. Use a column of its own.'
  if (kind !== 'json' && kind !== 'text') return 'is neither a JSON nor a text column.'
  if (!nullable) return 'cannot be NULL, but a new record has no file yet. Remove `notNull()`.'
  const { length } = column as { readonly length?: unknown }
  if (kind === 'text' && typeof length === 'number' && length < MIN_LENGTH)
    return `has a maximum length of ${length}. Use a column for JSON, or text of at least ${MIN_LENGTH} characters.`
  if (writable)
    return 'can be written by clients. List the plugin in `autoApi.plugins` of nuxt.config, or add the column to `protectedFields`.'
  return undefined
}
