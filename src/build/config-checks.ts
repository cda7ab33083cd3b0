/** Checks the names in the config against the registered resources and the columns of their tables. */
import type { AutoApiConfig } from '../runtime/shared/config'
import { DEFAULT_MULTI_TENANCY } from '../runtime/shared/defaults'
import { didYouMean } from '../runtime/shared/suggest'
import type { Problem } from './problem'
import type { CheckedRegistration } from './registration-keys'
import type { Descriptions, TableSource } from './table-descriptions'

/**
 * Reports unknown resource names, which fail the build. With a mistyped name, the intended resource would be open to every tenant, or
 * callers could read its hidden fields.
 */
export function checkResourceNames({ multiTenancy, hiddenFields }: AutoApiConfig, registered: readonly string[]): Problem[] {
  const { scopedResources, excludedResources } = multiTenancy || { scopedResources: [], excludedResources: [] }
  const scoped = scopedResources === '*' ? [] : scopedResources
  const mentioned = [
    ...scoped.map((name, index) => ({ where: `multiTenancy.scopedResources[${index}]`, name })),
    ...excludedResources.map((name, index) => ({ where: `multiTenancy.excludedResources[${index}]`, name })),
    ...Object.keys(hiddenFields.resources).map(name => ({ where: `hiddenFields.resources.${name}`, name })),
  ]
  const unknown = mentioned.filter(({ name }) => !registered.includes(name)).map(({ where, name }) => ({
    where: `autoApi.${where}`,
    what: `names \`${name}\`, which is not a registered resource`,
    instead: `Use the name of a registered resource.${didYouMean(name, registered)}`,
  }))
  const contradicting = excludedResources.flatMap((name, index): Problem[] => {
    if (!scoped.includes(name)) return []
    const what = `names \`${name}\`, which is also in \`scopedResources\``
    return [{ where: `autoApi.multiTenancy.excludedResources[${index}]`, what, instead: 'Remove it from one of the two lists.' }]
  })
  return [...unknown, ...contradicting]
}

/** Reports resources that require tags which no response contains. */
export function checkRequiredTags({ http }: AutoApiConfig, registrations: readonly CheckedRegistration[]): Problem[] {
  if (http.etag) return []
  return registrations.filter(({ data }) => data.requireIfMatch).map(({ name }) => ({
    where: `${name}.requireIfMatch`,
    what: 'is true, but `autoApi.http.etag` is false: clients cannot get the tags',
    instead: 'Remove one of the two.',
  }))
}

/** Returns the warnings that depend on table columns: resources without a tenant scope, and hidden fields that do not exist. */
export function findConfigWarnings(source: ConfigSource, descriptions: Descriptions): string[] {
  const names = source.registrations.map(({ name }) => name)
  return [
    ...source.isTenancySet
      ? warnOfUnscopedResources(names, descriptions, source.config)
      : warnOfTenantColumns(descriptions),
    ...warnOfUnknownHiddenFields(descriptions, source.config),
  ]
}

export type ConfigSource = Pick<TableSource, 'registrations' | 'config' | 'isTenancySet'>

/** Warns of tables with the tenant column while the app has not decided whether they belong to tenants: every caller can read all rows. */
function warnOfTenantColumns({ resources }: Descriptions): string[] {
  const names = resources.filter(({ hasTenantColumn }) => hasTenantColumn).map(({ name }) => `\`${name}\``)
  if (names.length === 0) return []
  return [
    `${listNames(names)} ${names.length === 1 ? 'has' : 'have'} the column \`${DEFAULT_MULTI_TENANCY.tenantIdField}\`, but `
    + '`autoApi.multiTenancy` is not set: the API does not keep tenants apart, and clients can write the column. Set `multiTenancy: {}` to '
    + 'give callers only the rows of their tenant, or `multiTenancy: false` if the column does not separate tenants.',
  ]
}

/**
 * Returns notes about tables that several resources have, with different rules. This can be on purpose, so it is not a warning: one
 * resource for the public and one for staff.
 */
export function findConfigNotes({ registrations }: Pick<TableSource, 'registrations'>, { resources }: Descriptions): string[] {
  const rulesOf = (resource: string) => {
    const { imports: { schema: _schema, relations: _relations, ...imports }, data } = registrations.find(({ name }) => name === resource)!
    return JSON.stringify([imports, data])
  }
  return resources.flatMap(({ name, sameTableAs: first }) =>
    first === undefined || rulesOf(first) === rulesOf(name)
      ? []
      : `\`${first}\` and \`${name}\` are two resources of one table, with different rules. The routes of each follow its own rules. `
        + `Relations, includes and references follow those of \`${first}\`, which is registered first.`,
  )
}

const listNames = (names: readonly string[]) => names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`

/** Warns of resources that all tenants share. A resource in `excludedResources` is shared on purpose and causes no warning. */
function warnOfUnscopedResources(names: readonly string[], { resources }: Descriptions, { multiTenancy }: AutoApiConfig): string[] {
  if (!multiTenancy) return []
  const { tenantIdField, scopedResources, excludedResources } = multiTenancy
  const described = new Map(resources.map(({ name, tenantScoped }) => [name, tenantScoped]))
  // If a table could not be loaded, its columns are unknown and only the option decides.
  const isScoped = (name: string) => described.get(name) ?? (scopedResources === '*' || scopedResources.includes(name))
  const unscoped = names.filter(name => !isScoped(name) && !excludedResources.includes(name)).map(name => `\`${name}\``)
  if (unscoped.length === 0) return []
  const subject = `${listNames(unscoped)} ${unscoped.length === 1 ? 'is' : 'are'}`
  const fix = scopedResources === '*'
    ? `add the column \`${tenantIdField}\` to the table`
    : 'add the name to `autoApi.multiTenancy.scopedResources`'
  return [
    `${subject} not tenant-scoped: callers of every tenant share the rows. To scope a resource, ${fix}; `
    + 'if it is shared on purpose, list it in `autoApi.multiTenancy.excludedResources`.',
  ]
}

/** Warns of unknown field names. They are not errors, because a layer can hide a field that only some apps have. */
function warnOfUnknownHiddenFields({ resources, warnings, error }: Descriptions, { hiddenFields }: AutoApiConfig): string[] {
  if (resources.length === 0 || warnings.length > 0 || error !== undefined) return []
  const hidden = new Set(resources.flatMap(resource => resource.hidden))
  const fields = [...new Set(resources.flatMap(({ key, create, update }) => [...key, ...create, ...update]))]
  return hiddenFields.global
    .filter(name => !hidden.has(name))
    .map(name => `\`autoApi.hiddenFields.global\` names \`${name}\`, which no resource has.${didYouMean(name, fields)}`)
}
