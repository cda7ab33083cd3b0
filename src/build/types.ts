/** The types an app gets: its resources as TypeScript sees them, and the answers of its routes for `$fetch` and `useFetch`. */
import { genObjectFromRaw, genString } from 'knitwork'
import { isAbsolute, relative } from 'pathe'
import type { ResourceDescription } from '../runtime/server/schema/describe'
import { COLUMN_ROLES, rolesWith } from '../runtime/shared/column-roles'
import type { AutoApiConfig } from '../runtime/shared/config'
import type { ModuleImport } from './module-import'
import type { CheckedRegistration } from './registration-keys'
import { ROUTES_OF } from './routes'

export interface TypeSource {
  readonly registrations: readonly CheckedRegistration[]
  readonly resources: readonly ResourceDescription[]
  readonly config: AutoApiConfig
  /** The folder of the file that is written. */
  readonly folder: string
  /** The module's file whose interfaces are filled. */
  readonly target: string
  /** The package that types Nitro's routes. */
  readonly nitro: string
  /** The app's own. */
  readonly endpoints: readonly Endpoint[]
}

export interface Endpoint {
  readonly route?: string
  readonly method?: string
  readonly handler: string
  readonly middleware?: boolean
}

/** Names of columns that a client cannot write, for a table whose columns are not known at build time. */
const SERVER_OWNED = rolesWith(({ inCreateBody }) => !inCreateBody).flatMap(role => COLUMN_ROLES[role].names)

export function generateTypes(source: TypeSource): string {
  const { registrations, resources, config, folder, target } = source
  const described = new Map(resources.map(resource => [resource.name, resource]))
  const entries = registrations.map(
    registration => [registration.name, toEntry(registration, described.get(registration.name), source)] as const,
  )
  return [
    '/** Written by nuxt-auto-api: the registered resources. */',
    `declare module ${genString(toSpecifier(target, folder))} {`,
    `  interface AutoApiResources ${genObjectFromRaw(Object.fromEntries(entries), '  ')}`,
    `  interface AutoApiSettings { pagination: ${genString(config.pagination.default)} }`,
    `  interface AutoApiEndpoints ${genObjectFromRaw(toEndpoints(source), '  ')}`,
    '}',
    'export {}',
    '',
  ].join('\n')
}

function toEntry(
  { name, imports, data }: CheckedRegistration,
  described: ResourceDescription | undefined,
  { config, folder, registrations }: TypeSource,
): Record<string, unknown> {
  const typeOf = ({ path, name }: ModuleImport) => `typeof import(${genString(toSpecifier(path, folder))})[${genString(name)}]`
  const hidden = [...((data.hiddenFields as string[]) ?? []), ...config.hiddenFields.global, ...(config.hiddenFields.resources[name] ?? [])]
  const tenant = config.multiTenancy ? [config.multiTenancy.tenantIdField] : []
  const unowned = `Exclude<keyof ${typeOf(imports.schema!)}["_"]["columns"], ${union([...SERVER_OWNED, ...((data.protectedFields as string[]) ?? []), ...tenant])}>`
  // A record of a resource that is never read cannot be included.
  const isRead = (resource: string) => !disabledIn(registrations.find(({ name }) => name === resource)).includes('read')
  return {
    table: typeOf(imports.schema!),
    hidden: union(described?.hidden ?? hidden),
    create: described ? union(described.create) : `${unowned} & string`,
    update: described ? union(described.update) : `${unowned} & string`,
    filled: described ? union(described.filled) : union(['createdAt', 'created_at']),
    relations: Object.fromEntries(
      described?.relations.filter(({ to }) => isRead(to)).map(({ name, to, many }) => [name, `{ to: ${genString(to)}, many: ${many} }`])
      ?? [],
    ),
    disabled: union(disabledIn({ data })),
    validation: imports.validation ? typeOf(imports.validation) : 'undefined',
  }
}

const disabledIn = (registration: Pick<CheckedRegistration, 'data'> | undefined) => (registration?.data.disabled ?? []) as readonly string[]

/** Route → method → what the handler returns, as JSON says it. */
function toEndpoints({ endpoints, folder, nitro }: TypeSource): Record<string, Record<string, string>> {
  const found: Record<string, Record<string, string>> = {}
  for (const { route, method = 'any', handler, middleware } of endpoints) {
    if (!route || middleware || !isAbsolute(handler)) continue
    found[route] = {
      ...found[route],
      [method.toUpperCase()]: `import(${genString(nitro)}).Serialize<Awaited<ReturnType<typeof import(${genString(toSpecifier(handler, folder))}).default>>>`,
    }
  }
  return found
}

const union = (names: readonly string[]) => names.length > 0 ? [...new Set(names)].map(name => genString(name)).join(' | ') : 'never'

/** Files relative to the one that is written, packages by name. */
export function toSpecifier(path: string, folder: string): string {
  if (!isAbsolute(path)) return path
  const found = relative(folder, path).replace(/\.[cm]?[jt]sx?$/, '')
  return found.startsWith('.') ? found : `./${found}`
}

/** Route → method → type expressions, as Nitro writes them down. */
type RouteTypes = Record<string, Partial<Record<string, string[]>>>

const ROUTE_HANDLER = /import\((['"])(.+\/runtime\/)server\/routes\/([\w-]+)\1\)/

/** Nitro types a route by what its handler returns, which says nothing of ours: they are told by resource and method, beside the methods that the app answers. */
export function typeRoutes(routes: RouteTypes, prefix: string, registrations: readonly Pick<CheckedRegistration, 'name' | 'data'>[]): void {
  const resources = new Map(registrations.map(registration => [registration.name, disabledIn(registration)]))
  for (const [path, methods] of Object.entries(routes)) {
    const match = methods.default?.map(type => ROUTE_HANDLER.exec(type)).find(found => found !== null)
    if (!match) continue
    const [, , runtime, file] = match as unknown as [string, string, string, string]
    const segment = path.slice(prefix.length + 1).split('/', 1)[0]!
    const resource = resources.has(segment) ? segment : undefined
    Reflect.deleteProperty(methods, 'default')
    const has = (operation: string) => !resources.get(segment)?.includes(operation)
    const own = (ROUTES_OF.get(file) ?? []).filter(
      ({ operation, alternative }) => operation === null || has(operation) || (alternative !== undefined && has(alternative)),
    )
    for (const { name, method } of own) methods[method.toLowerCase()] ??= [toResponseType(`${runtime}shared/types/responses`, name, resource)]
  }
}

function toResponseType(file: string, route: string, resource: string | undefined): string {
  return resource === undefined
    ? `import('${file}').GlobalResponses['${route}']`
    : `import('${file}').RouteResponses<'${resource}'>['${route}']`
}
