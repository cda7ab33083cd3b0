/** Warns of names that may be mistakes, once the tables are known. */
import type { AutoApiConfig } from '../runtime/shared/config'
import type { Descriptions } from './table-descriptions'
import { didYouMean } from '../runtime/shared/suggest'
import type { Problem } from './problem'

export function findConfigWarnings(names: readonly string[], descriptions: Descriptions, config: AutoApiConfig): string[] {
  return [...findUnscopedResources(names, descriptions, config), ...findUnknownHiddenFields(descriptions, config)]
}

/** Resources that every tenant sees, although nothing says that this is meant. */
function findUnscopedResources(names: readonly string[], { resources }: Descriptions, { multiTenancy }: AutoApiConfig): string[] {
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
function findUnknownHiddenFields({ resources, warnings, error }: Descriptions, { hiddenFields }: AutoApiConfig): string[] {
  if (resources.length === 0 || warnings.length > 0 || error !== undefined) return []
  const hidden = new Set(resources.flatMap(resource => resource.hidden))
  const known = [...new Set(resources.flatMap(({ key, create, update }) => [...key, ...create, ...update]))]
  return hiddenFields.global
    .filter(name => !hidden.has(name))
    .map(name => `\`autoApi.hiddenFields.global\` names \`${name}\`, which no resource has.${didYouMean(name, known)}`)
}

/**
 * Checks the resource names that options mention, once the resources are known. A mistyped name would silently leave the
 * meant resource open to every tenant, or its hidden fields readable.
 */
export function checkResourceNames({ multiTenancy, hiddenFields }: AutoApiConfig, registered: readonly string[]): Problem[] {
  const { scopedResources, excludedResources } = multiTenancy || { scopedResources: [], excludedResources: [] }
  const scoped = scopedResources === '*' ? [] : scopedResources
  const mentions = [
    ...scoped.map((name, index) => ({ where: `multiTenancy.scopedResources[${index}]`, name })),
    ...excludedResources.map((name, index) => ({ where: `multiTenancy.excludedResources[${index}]`, name })),
    ...Object.keys(hiddenFields.resources).map(name => ({ where: `hiddenFields.resources.${name}`, name })),
  ]
  const unknown = mentions.filter(({ name }) => !registered.includes(name)).map(({ where, name }) => ({
    where: `autoApi.${where}`,
    what: `names \`${name}\`, which is not a registered resource`,
    instead: `Name a registered resource.${didYouMean(name, registered)}`,
  }))
  const contradicting = excludedResources.flatMap((name, index) => scoped.includes(name)
    ? {
        where: `autoApi.multiTenancy.excludedResources[${index}]`,
        what: `names \`${name}\`, which \`scopedResources\` lists as well`,
        instead: 'Keep it in one of the two lists.',
      }
    : [],
  )
  return [...unknown, ...contradicting]
}
