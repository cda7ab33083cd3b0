/** Generates `#auto-api/plugins`: the listed plugins, as imports and data. */
import { genImport, genString } from 'knitwork'
import { isModuleImport, type ModuleImport } from '../module-import'

/** The source of a plugin: an export of a file. If the export is a factory, the server calls it with `options`. */
export interface PluginSource {
  readonly where: string
  readonly import: ModuleImport
  /** The arguments of the factory; `undefined` if the export is the plugin itself. */
  readonly options?: readonly unknown[]
}

/**
 * Generates the module.
 * @param built the parts of plugins that ran at build time, as `plugin.part`
 * @param appRoutes keys of the app's own routes below the prefix
 * @param endpoints the app's files with endpoints. The server loads them only for plugins that describe the API.
 */
export function generatePlugins(
  sources: readonly PluginSource[], built: readonly string[], appRoutes: readonly string[], endpoints: readonly EndpointFile[] = [],
): string {
  /** The module imports inside the options. The server passes the imported values to the factory. */
  const named: ModuleImport[] = []
  const listed = sources.map((source, index) => toLiteral(source, index, named))
  return [
    ...sources.map(({ import: { path, name } }, index) => genImport(path, [{ name, as: `plugin${index}` }])),
    ...named.map(({ path, name }, index) => genImport(path, [{ name, as: `option${index}` }])),
    '',
    `export function plugins() {\n  return [\n${listed.map(entry => `    ${entry},\n`).join('')}  ]\n}`,
    '',
    `export async function endpoints() {\n  return [\n${endpoints.map(entry => `    ${toEndpoint(entry)},\n`).join('')}  ]\n}`,
    '',
    `export const built = ${JSON.stringify(built)}`,
    `export const reservedPaths = ${JSON.stringify(appRoutes)}`,
    '',
  ].join('\n')
}

/** A file of the app with an endpoint, and where a router mounts it. */
export interface EndpointFile {
  readonly route: string
  readonly method?: string
  readonly handler: string
}

function toEndpoint({ route, method, handler }: EndpointFile): string {
  const ofMethod = method === undefined ? '' : `method: ${genString(method.toUpperCase())}, `
  return `{ ${ofMethod}path: ${genString(route)}, handler: (await import(${genString(handler)})).default }`
}

function toLiteral({ where, options }: PluginSource, index: number, named: ModuleImport[]): string {
  const listed = options ? `plugin${index}(${options.map(option => toOption(option, named)).join(', ')})` : `plugin${index}`
  return `{ where: ${genString(where)}, listed: () => ${listed} }`
}

/** Returns the option as JSON. Each module import is replaced by the name of the imported value. */
function toOption(value: unknown, named: ModuleImport[]): string {
  if (isModuleImport(value)) return `option${named.push(value) - 1}`
  if (Array.isArray(value)) return `[${value.map(inner => toOption(inner, named)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${entries.map(([key, inner]) => `${toKey(key)}:${toOption(inner, named)}`).join(',')}}`
}

/** Returns the key of a property. In an object literal, `"__proto__": value` would set the prototype instead of a property. */
const toKey = (key: string) => key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)
