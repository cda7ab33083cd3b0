/** Loads the app's resources and plugins outside of the server, and creates the OpenAPI document of a role. */
import { createJiti } from 'jiti'
import type { OpenApiOptions } from '../runtime/plugins/open-api/options'
import type { Role, RoleSource } from '../runtime/plugins/open-api/role'
import type { ListedPlugin } from '../runtime/server/plugin/contract'
import type { ResourceRegistration } from '../runtime/server/registration'
import type { CheckedRegistration } from './registration-keys'
import { withAutoImport, type InspectedTables } from './table-descriptions'
import { generatePlugins, type PluginSource } from './virtual/plugins'
import { generateRegistry } from './virtual/registry'

interface Loaded {
  readonly registrations: () => readonly ResourceRegistration[]
  readonly schemaModules: () => readonly Record<string, unknown>[]
  readonly plugins: () => readonly ListedPlugin[]
  readonly describeRole: (source: RoleSource, role: Role) => Promise<string>
}

export interface RoleDocument {
  readonly text: string
  /** Why the routes of plugins are missing. */
  readonly warning?: string
}

/** @throws When a resource cannot be loaded. Plugins that work only in the server are left out. */
export async function createRoleDocument(tables: InspectedTables, plugins: readonly PluginSource[], role: Role): Promise<RoleDocument> {
  const options = (plugins.find(({ import: { name } }) => name === 'openApi')?.options?.[0] ?? {}) as OpenApiOptions
  // Virtual modules, such as the plugin of the admin, exist only in the bundler.
  const others = plugins.filter(({ import: { name, path } }) => name !== 'openApi' && !path.startsWith('#'))
  const create = (listed: readonly PluginSource[]) => withAutoImport(tables, async () => {
    const { registrations, schemaModules, plugins, describeRole } = await load(tables, listed)
    const source = { registrations: registrations(), modules: schemaModules(), config: tables.config, plugins: plugins(), options }
    return describeRole(source, role)
  })
  try {
    return { text: await create(others) }
  }
  catch (error) {
    if (others.length === 0) throw error
    return { text: await create([]), warning: (error as Error).message.split('\n')[0]! }
  }
}

/**
 * Returns the error that would stop the start of the server, such as a plugin whose table is not registered. Errors of files that work only
 * in the server are not among them.
 */
export async function findStartError(tables: InspectedTables, plugins: readonly PluginSource[]): Promise<string | undefined> {
  try {
    const { warning } = await createRoleDocument(tables, plugins, { roles: [], permissions: [] })
    return warning?.startsWith(OWN) ? warning : undefined
  }
  catch (error) {
    if (error instanceof Error && error.message.startsWith(OWN)) return error.message
    return undefined
  }
}

/** The start of every error of this package. */
const OWN = '[auto-api] '

/** Loads everything as one module, so that plugins and the API share the same objects. Hooks and endpoints are not part of a document. */
async function load({ registrations, rootDir, alias, roles }: InspectedTables, plugins: readonly PluginSource[]): Promise<Loaded> {
  const needed = registrations.map(({ name, imports, data }): CheckedRegistration => {
    const { hooks: _, ...kept } = imports
    return { name, imports: kept, data }
  })
  const filename = `${rootDir}/auto-api-openapi.mjs`
  const jiti = createJiti(filename, { alias, moduleCache: false })
  const code = [
    generateRegistry(needed, rootDir),
    generatePlugins(plugins, [], []),
    `export { describeRole } from ${JSON.stringify(roles)}`,
  ].join('\n')
  return await jiti.evalModule(code, { filename, async: true }) as Loaded
}
