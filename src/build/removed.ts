/** Finds removed options, which fail the build. To remove an option, add a row here and a heading to the upgrade notes. */
import type { Problem } from './problem'

export interface RemovedOption {
  /** `[]` matches every entry of a list. */
  readonly path: string
  readonly instead: string
  readonly anchor: string
}

export const REMOVED_OPTIONS: readonly RemovedOption[] = Object.freeze([
  {
    path: 'autoApi.hooks',
    instead: 'Give the registration `hooks: createModuleImport(path, name)`, or call `addResourceHook` in a server plugin.',
    anchor: 'hooks',
  },
  { path: 'autoApi.exclude', instead: 'Register only the resources to expose.', anchor: 'exclude' },
  { path: 'autoApi.include', instead: 'Register only the resources to expose.', anchor: 'include' },
  {
    path: 'autoApi.authorization',
    instead: 'Give the registration `authorization: createModuleImport(path, name)`.',
    anchor: 'inline-authorization',
  },
  {
    path: 'autoApi.validation',
    instead: 'Give the registration `validation: createModuleImport(path, name)`.',
    anchor: 'inline-validation',
  },
  { path: 'autoApi.multiTenancy.getTenantId', instead: 'Set `ctx.tenant` from a context extender.', anchor: 'tenant' },
  {
    path: 'autoApi.multiTenancy.allowCrossTenantAccess',
    instead: 'Set `ctx.tenant.canAccessAllTenants` from a context extender.',
    anchor: 'cross-tenant-access',
  },
  {
    path: 'autoApi.multiTenancy.requireTenant',
    instead: 'Remove it. A tenant-scoped resource always refuses requests without a tenant.',
    anchor: 'require-tenant',
  },
  { path: 'autoAdmin.access', instead: 'Use a middleware: `autoAdmin.middleware: \'<middleware name>\'`.', anchor: 'admin-access' },
  {
    path: 'autoAdmin.customPages[].canAccess',
    instead: 'List permissions: `permissions: [\'<resource>:<action>\']`.',
    anchor: 'admin-page-access',
  },
])

/** Reports each removed option that the config sets. The value `false` counts as set, because it also had an effect before. */
export function findRemovedOptions(config: Readonly<Record<string, unknown>>): Problem[] {
  return REMOVED_OPTIONS.flatMap(({ path, instead, anchor }) =>
    findSetPaths(config, path.split('.')).map(where => ({ where, what: 'was removed', instead, anchor })),
  )
}

/** Returns the paths in a value that match a pattern: `pages[].canAccess` → `pages[0].canAccess`, `pages[3].canAccess`. */
function findSetPaths(value: unknown, [segment, ...rest]: readonly string[], at = ''): string[] {
  if (segment === undefined) return value === undefined ? [] : [at]
  if (typeof value !== 'object' || value === null) return []

  const key = segment.replace('[]', '')
  const where = at ? `${at}.${key}` : key
  const child: unknown = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
  if (!segment.endsWith('[]')) return findSetPaths(child, rest, where)
  return Array.isArray(child) ? child.flatMap((entry, index) => findSetPaths(entry, rest, `${where}[${index}]`)) : []
}
