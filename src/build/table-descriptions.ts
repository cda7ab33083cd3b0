/** Describes the registered tables at build time, because their TypeScript types do not contain relations and server-owned columns. */
import { createJiti } from 'jiti'
import type { ResourceDescription } from '../runtime/server/schema/describe'
import type { Inspection } from '../runtime/server/schema/inspect'
import type { ResourceRegistration } from '../runtime/server/registration'
import type { AutoApiConfig } from '../runtime/shared/config'
import type { CheckedRegistration, DataKey, ImportKey } from './registration-keys'
import { generateRegistry } from './virtual/registry'

export interface Descriptions {
  readonly resources: readonly ResourceDescription[]
  /** The reasons for missing descriptions. For these tables, the build continues with their TypeScript types only. */
  readonly warnings: readonly string[]
  /** The error with which the server would fail at startup. The build detects it only if it could load every table. */
  readonly error?: string
}

export interface TableSource {
  readonly registrations: readonly CheckedRegistration[]
  readonly config: AutoApiConfig
  /** Whether the app sets `multiTenancy`, also to `false`. */
  readonly isTenancySet: boolean
  readonly rootDir: string
  readonly alias: Record<string, string>
  /** The file that exports `describeResources`. The server uses the same function. */
  readonly describer: string
}

/** The tables with the files that load their rules, for commands. */
export interface InspectedTables extends TableSource {
  /** The file that exports `inspectResources`. */
  readonly inspector: string
  /** The file that exports `defineResource`. */
  readonly define: string
  /** The file that exports `createOffline`. */
  readonly offline: string
  /** The folder of the plugins. */
  readonly plugins: string
}

interface Describer {
  readonly describeResources: (
    registrations: readonly ResourceRegistration[],
    modules: readonly Record<string, unknown>[],
    config: AutoApiConfig,
  ) => ResourceDescription[]
}

interface Tables {
  readonly registrations: () => ResourceRegistration[]
  readonly schemaModules: () => Record<string, unknown>[]
}

/** Loads and describes tables and relations. Only the server loads authorization, validation and hooks. */
export async function describeTables(source: Omit<TableSource, 'isTenancySet'>): Promise<Descriptions> {
  const { describeResources } = await createJiti(import.meta.url, { alias: source.alias }).import<Describer>(source.describer)
  const tables = source.registrations.map(registration =>
    withComputedNames(pickParts(
      registration, ['schema', 'computed', 'relations'],
      ['key', 'references', 'tracks', 'nested', 'hiddenFields', 'protectedFields', 'metadata'],
    )))
  const { loadable, failures } = await findLoadable(tables, source)
  const warnings = failures.map(({ name, message }) => withoutRelations([name], message))
  try {
    const { registrations, schemaModules } = await load(loadable, source)
    return { resources: describeResources(registrations(), schemaModules(), source.config), warnings }
  }
  catch (error) {
    // If there are no warnings, every table was loaded, so a missing table cannot be the cause of the error.
    if (warnings.length === 0 && isOwnError(error)) return { resources: [], warnings, error: error.message }
    return { resources: [], warnings: [...warnings, withoutRelations(loadable.map(({ name }) => name), messageOf(error))] }
  }
}

interface Inspector {
  readonly inspectResources: (
    registrations: readonly ResourceRegistration[],
    modules: readonly Record<string, unknown>[],
    config: AutoApiConfig,
  ) => Inspection
}

export interface Inspected {
  /** It is missing if there is an error. */
  readonly inspection?: Inspection
  /** The error with which the server would fail at startup. */
  readonly error?: string
  /** The messages for registrations that could not be loaded. */
  readonly unloaded: readonly string[]
}

/** Loads the tables with their rules and inspects them. Rules of files that work only in the server are missing. */
export async function inspectTables(source: InspectedTables): Promise<Inspected> {
  const { inspectResources } = await createJiti(import.meta.url, { alias: source.alias }).import<Inspector>(source.inspector)
  const registrations = source.registrations.map(registration =>
    pickParts(registration, ['schema', 'computed', 'authorization'], ['key', 'references', 'tracks', 'nested', 'hiddenFields', 'disabled']))
  return await withAutoImport(source, async () => {
    const { loadable, failures } = await findLoadable(registrations, source)
    const { registrations: loaded, schemaModules } = await load(loadable, source)
    const unloaded = failures.map(({ name, message }) => `\`${name}\` could not be loaded, so its rules are not checked: ${message}`)
    try {
      return { inspection: inspectResources(loaded(), schemaModules(), source.config), unloaded }
    }
    catch (error) {
      if (isOwnError(error)) return { error: error.message, unloaded }
      throw error
    }
  })
}

/** Leaves out the other parts, because only the server can load them. */
function pickParts(
  { name, imports, data }: CheckedRegistration, importKeys: readonly ImportKey[], dataKeys: readonly DataKey[],
): CheckedRegistration {
  const pick = <T extends object>(from: T, keys: readonly (keyof T)[]) =>
    Object.fromEntries(keys.flatMap(key => from[key] === undefined ? [] : [[key, from[key]]])) as T
  return { name, imports: pick(imports, importKeys), data: pick(data, dataKeys) }
}

/** The build knows the names of the computed fields in a resource file, which it does not load. */
function withComputedNames(registration: CheckedRegistration): CheckedRegistration {
  const { computed, ...imports } = registration.imports
  return computed?.names ? { ...registration, imports, data: { ...registration.data, computedNames: computed.names } } : registration
}

/** Resource files use the auto-import `defineResource`, which exists only in the server. */
export async function withAutoImport<T>({ define, alias }: InspectedTables, run: () => Promise<T>): Promise<T> {
  const { defineResource } = await createJiti(import.meta.url, { alias }).import<{ readonly defineResource: unknown }>(define)
  const scope = globalThis as { defineResource?: unknown }
  scope.defineResource = defineResource
  try {
    return await run()
  }
  finally {
    delete scope.defineResource
  }
}

/** Whether this package threw the error. Other errors come from files that cannot be loaded at build time. */
const isOwnError = (error: unknown): error is Error => error instanceof Error && error.message.startsWith('[auto-api] ')

interface Failure {
  readonly name: string
  readonly message: string
}

/** Returns the tables whose files can be loaded outside the server. A file that fails then affects only its own tables. */
async function findLoadable(
  tables: readonly CheckedRegistration[],
  source: Pick<TableSource, 'rootDir' | 'alias'>,
): Promise<{ loadable: readonly CheckedRegistration[], failures: readonly Failure[] }> {
  const canLoadAll = await load(tables, source).then(() => true, () => false)
  if (canLoadAll) return { loadable: tables, failures: [] }
  const results = await Promise.all(
    tables.map(table => load([table], source).then(() => table, (error: unknown) => ({ name: table.name, message: messageOf(error) }))),
  )
  return {
    loadable: results.flatMap(result => 'message' in result ? [] : [result]),
    failures: results.flatMap(result => 'message' in result ? [result] : []),
  }
}

/**
 * Loads the tables as one module, so that all files share one object for a table that several files import. Modules are not cached,
 * because files can change while the dev server runs. jiti still caches the transpiled text.
 */
async function load(tables: readonly CheckedRegistration[], { rootDir, alias }: Pick<TableSource, 'rootDir' | 'alias'>): Promise<Tables> {
  const filename = `${rootDir}/auto-api-tables.mjs`
  const jiti = createJiti(filename, { alias, moduleCache: false })
  return await jiti.evalModule(generateRegistry(tables, rootDir), { filename, async: true }) as Tables
}

const messageOf = (error: unknown): string => String(error instanceof Error ? error.message : error).split('\n')[0]!

function withoutRelations(names: readonly string[], message: string): string {
  const list = names.map(name => `\`${name}\``).join(', ')
  return `${list}: the table could not be loaded at build time, so the types contain its columns but not its relations (${message}).`
}
