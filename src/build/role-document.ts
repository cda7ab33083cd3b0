/** Loads the app's resources and plugins outside of the server: for the error of its start, and for the OpenAPI document of a role. */
import { createJiti } from 'jiti'
import { SLICES } from '../runtime/plugins/slices'
import type { createOffline, Role, RoleSource } from '../runtime/server/kit/api'
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
  readonly createOffline: typeof createOffline
  readonly describeRole?: (source: RoleSource, role: Role) => Promise<string>
}

export interface RoleDocument {
  readonly text: string
  /** Why the routes of plugins are missing. */
  readonly warning?: string
}

/** @throws When a resource cannot be loaded. Plugins that work only in the server are left out. */
export async function createRoleDocument(tables: InspectedTables, plugins: readonly PluginSource[], role: Role): Promise<RoleDocument> {
  if (!describer) throw new Error('No plugin of this package describes roles.')
  const isDescriber = ({ import: { name } }: PluginSource) => name === describer?.factory
  const options = plugins.find(isDescriber)?.options?.[0] ?? {}
  const others = plugins.filter(plugin => !isDescriber(plugin))
  return load(tables, others, ({ describeRole }, source) => describeRole!({ ...source, options }, role))
}

/**
 * Returns the error that would stop the start of the server, such as a plugin whose table is not registered. Errors of files that work only
 * in the server are not among them.
 */
export async function findStartError(tables: InspectedTables, plugins: readonly PluginSource[]): Promise<string | undefined> {
  const start = async ({ createOffline }: Loaded, source: Source) => {
    await createOffline(source, { user: null, permissions: [] })
    return ''
  }
  try {
    const { warning } = await load(tables, plugins, start)
    return warning?.startsWith(OWN) ? warning : undefined
  }
  catch (error) {
    if (error instanceof Error && error.message.startsWith(OWN)) return error.message
    return undefined
  }
}

/** The start of every error of this package. */
const OWN = '[auto-api] '

const describer = SLICES.flatMap(({ folder, describesRoles }) => describesRoles ? [{ folder, ...describesRoles }] : [])[0]

type Source = Omit<RoleSource, 'options'>

/** Uses what the files of an app export. If that fails with its plugins, it tries without them. */
async function load(
  tables: InspectedTables, plugins: readonly PluginSource[], use: (loaded: Loaded, source: Source) => Promise<string>,
): Promise<RoleDocument> {
  // Virtual modules, such as the plugin of the admin, exist only in the bundler.
  const others = plugins.filter(({ import: { path } }) => !path.startsWith('#'))
  const create = (listed: readonly PluginSource[]) => withAutoImport(tables, async () => {
    const loaded = await loadFiles(tables, listed)
    const { registrations, schemaModules, plugins } = loaded
    return use(loaded, { registrations: registrations(), modules: schemaModules(), config: tables.config, plugins: plugins() })
  })
  try {
    return { text: await create(others) }
  }
  catch (error) {
    if (others.length === 0) throw error
    return { text: await create([]), warning: (error as Error).message.split('\n')[0]! }
  }
}

/** Loads everything as one module, so that plugins and the API share the same objects. Hooks and endpoints are not part of a document. */
async function loadFiles(
  { registrations, rootDir, alias, offline, plugins: folder }: InspectedTables, plugins: readonly PluginSource[],
): Promise<Loaded> {
  const needed = registrations.map(({ name, imports, data }): CheckedRegistration => {
    const { hooks: _, ...kept } = imports
    return { name, imports: kept, data }
  })
  const filename = `${rootDir}/auto-api-openapi.mjs`
  const jiti = createJiti(filename, { alias, moduleCache: false })
  const code = [
    generateRegistry(needed, rootDir),
    generatePlugins(plugins, [], []),
    `export { createOffline } from ${JSON.stringify(offline)}`,
    ...describer ? [`export { describeRole } from ${JSON.stringify(`${folder}/${describer.folder}/${describer.file}`)}`] : [],
  ].join('\n')
  return await jiti.evalModule(code, { filename, async: true }) as Loaded
}
