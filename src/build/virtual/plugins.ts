/** `#auto-api/plugins`: the listed plugins, as imports and data. */
import { genImport, genString } from 'knitwork'
import { isModuleImport, type ModuleImport } from '../module-import'

/** How the server comes by a plugin. */
export interface PluginSource {
  readonly where: string
  readonly import: ModuleImport
  /** The arguments of a factory; absent where the export is handed on as it is. */
  readonly options?: readonly unknown[]
}

/**
 * @param built plugins whose `buildSetup` has run
 * @param taken routes of the app below the prefix, by key
 */
export function generatePlugins(sources: readonly PluginSource[], built: readonly string[], taken: readonly string[]): string {
  /** Exports that options name: the server's factory is given what they stand for. */
  const named: ModuleImport[] = []
  const listed = sources.map((source, index) => toLiteral(source, index, named))
  return [
    ...sources.map(({ import: { path, name } }, index) => genImport(path, [{ name, as: `plugin${index}` }])),
    ...named.map(({ path, name }, index) => genImport(path, [{ name, as: `option${index}` }])),
    '',
    `export function plugins() {\n  return [\n${listed.map(entry => `    ${entry},\n`).join('')}  ]\n}`,
    '',
    `export const built = ${JSON.stringify(built)}`,
    `export const taken = ${JSON.stringify(taken)}`,
    '',
  ].join('\n')
}

function toLiteral({ where, options }: PluginSource, index: number, named: ModuleImport[]): string {
  const listed = options ? `plugin${index}(${options.map(option => toOption(option, named)).join(', ')})` : `plugin${index}`
  return `{ where: ${genString(where)}, listed: () => ${listed} }`
}

/** JSON, but for the exports that it names. */
function toOption(value: unknown, named: ModuleImport[]): string {
  if (isModuleImport(value)) return `option${named.push(value) - 1}`
  if (Array.isArray(value)) return `[${value.map(inner => toOption(inner, named)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${toOption(inner, named)}`).join(',')}}`
}
