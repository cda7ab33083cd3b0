/** Warns of names that may be mistakes, once the tables are known. */
import type { AutoApiConfig } from '../runtime/shared/config'
import type { Descriptions } from './describe'
import { didYouMean } from './suggest'

export function warnOfNames(names: readonly string[], descriptions: Descriptions, config: AutoApiConfig): string[] {
  return [...warnOfUnscoped(names, descriptions, config), ...warnOfHidden(descriptions, config)]
}

/** Resources that every tenant sees, although nothing says that this is meant. */
function warnOfUnscoped(names: readonly string[], { resources }: Descriptions, { multiTenancy }: AutoApiConfig): string[] {
  if (!multiTenancy) return []
  const { tenantIdField, scopedResources, excludedResources } = multiTenancy
  const described = new Map(resources.map(({ name, tenantScoped }) => [name, tenantScoped]))
  // A table that could not be loaded is known only where the options list the scoped ones.
  const isScoped = (name: string) => described.get(name) ?? (scopedResources === '*' || scopedResources.includes(name))
  const unscoped = names.filter(name => !isScoped(name) && !excludedResources.includes(name)).map(name => `\`${name}\``)
  if (unscoped.length === 0) return []
  const subject = unscoped.length === 1 ? `${unscoped[0]} is` : `${unscoped.slice(0, -1).join(', ')} and ${unscoped.at(-1)} are`
  const fix
    = scopedResources === '*' ? `add the column \`${tenantIdField}\` to the table` : 'add the name to `autoApi.multiTenancy.scopedResources`'
  return [
    `${subject} not tenant-scoped: callers of every tenant share the rows. To scope a resource, ${fix}; if it is shared on purpose, list it in \`autoApi.multiTenancy.excludedResources\`.`,
  ]
}

/** A layer may hide a field that only some apps have, so a name that nothing has is a warning and no error. */
function warnOfHidden({ resources, warnings, mistake }: Descriptions, { hiddenFields }: AutoApiConfig): string[] {
  if (resources.length === 0 || warnings.length > 0 || mistake !== undefined) return []
  const hidden = new Set(resources.flatMap(resource => resource.hidden))
  const known = [...new Set(resources.flatMap(({ key, create, update }) => [...key, ...create, ...update]))]
  return hiddenFields.global
    .filter(name => !hidden.has(name))
    .map(name => `\`autoApi.hiddenFields.global\` names \`${name}\`, which no resource has.${didYouMean(name, known)}`)
}
