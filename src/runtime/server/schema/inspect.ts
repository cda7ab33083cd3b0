/** Inspects resources for the command `check`: who can do what, and which columns need an index. */
import type { AccessMatrix } from '../../shared/access-matrix'
import type { AutoApiConfig } from '../../shared/config'
import type { ResourceRegistration } from '../registration'
import { toAccessMatrix } from './access-matrix'
import { beginsIndex, indexesOf } from './indexes'
import type { Resource } from './model'
import { createResources } from './resource'

export interface Inspection {
  readonly access: AccessMatrix
  readonly missingIndexes: readonly MissingIndex[]
}

export interface MissingIndex {
  readonly resource: string
  /** The columns, by property name. */
  readonly columns: readonly string[]
  readonly reason: 'foreign key' | 'tenant' | 'deletion'
}

/** @throws The same error that the server throws at startup, if a registration is invalid. */
export function inspectResources(
  registrations: readonly ResourceRegistration[],
  modules: readonly Record<string, unknown>[],
  config: AutoApiConfig,
): Inspection {
  const resources = [...createResources(registrations, modules, config).values()]
  return { access: toAccessMatrix(resources), missingIndexes: resources.flatMap(findMissingIndexes) }
}

/**
 * Returns the columns that no index begins with. Without an index, an include, a cascade, a list of a tenant or the restore of a group
 * reads the whole table. The orders of lists are not known before a request.
 */
export function findMissingIndexes(resource: Resource): MissingIndex[] {
  // A view has no indexes. Those of its tables can serve it.
  if (resource.readOnly) return []
  const indexed = indexesOf(resource)
  const needed: Omit<MissingIndex, 'resource'>[] = [
    // MySQL creates the index of a foreign key itself.
    ...resource.dialect === 'mysql' ? [] : resource.foreignKeys.map(({ columns }) => ({ columns, reason: 'foreign key' as const })),
    ...resource.tenant ? [{ columns: [resource.tenant.name], reason: 'tenant' as const }] : [],
    ...resource.roles.deletionId ? [{ columns: [resource.roles.deletionId.name], reason: 'deletion' as const }] : [],
  ]
  const missing = needed.filter(({ columns }) => !beginsIndex(indexed, columns))
  // A tenant column is usually a foreign key too.
  return missing
    .filter(({ columns }, at) => missing.findIndex(other => other.columns.join() === columns.join()) === at)
    .map(entry => ({ resource: resource.name, ...entry }))
}
