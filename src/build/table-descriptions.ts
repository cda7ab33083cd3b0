/** Loads the registered tables to see what TypeScript cannot: where foreign keys lead, and what the server owns. */
import { createJiti } from 'jiti'
import type { ResourceDescription } from '../runtime/server/schema/describe'
import type { ResourceRegistration } from '../runtime/server/registration'
import type { AutoApiConfig } from '../runtime/shared/config'
import type { CheckedRegistration } from './registration-keys'
import { generateRegistry } from './virtual/registry'

export interface Descriptions {
  readonly resources: readonly ResourceDescription[]
  /** Why some are missing; the build tells it and goes on with what the tables' types say. */
  readonly warnings: readonly string[]
  /** What would stop the server: every table was loaded, and a registration names what its table does not have. */
  readonly error?: string
}

export interface TableSource {
  readonly registrations: readonly CheckedRegistration[]
  readonly config: AutoApiConfig
  readonly rootDir: string
  readonly alias: Record<string, string>
  /** The module's own file that describes tables: the server's reading of them, not a second one. */
  readonly describer: string
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

/** Only tables and relations are loaded: authorization, validation and hooks are for the server alone. */
export async function describeTables(source: TableSource): Promise<Descriptions> {
  const { describeResources } = await createJiti(import.meta.url).import<Describer>(source.describer)
  const tables = source.registrations.map(
    ({ name, imports: { schema, relations }, data: { hiddenFields, protectedFields } }): CheckedRegistration => ({
      name,
      imports: { ...(schema && { schema }), ...(relations && { relations }) },
      data: { ...(hiddenFields !== undefined && { hiddenFields }), ...(protectedFields !== undefined && { protectedFields }) },
    }),
  )
  const { loadable, warnings } = await findLoadable(tables, source)
  try {
    const { registrations, schemaModules } = await load(loadable, source)
    return { resources: describeResources(registrations(), schemaModules(), source.config), warnings }
  }
  catch (error) {
    // What another table would have, had it been loaded, may be what this one misses.
    if (warnings.length === 0 && isOwnError(error)) return { resources: [], warnings, error: error.message }
    return { resources: [], warnings: [...warnings, withoutRelations(loadable.map(({ name }) => name), error)] }
  }
}

/** An error of the module's own, as opposed to one of a file that cannot be loaded here. */
const isOwnError = (error: unknown): error is Error => error instanceof Error && error.message.startsWith('[auto-api] ')

/** One file that cannot be loaded outside the server must not cost the others their types. */
async function findLoadable(
  tables: readonly CheckedRegistration[],
  source: TableSource,
): Promise<{ loadable: readonly CheckedRegistration[], warnings: string[] }> {
  if (
    await load(tables, source).then(
      () => true,
      () => false,
    )
  )
    return { loadable: tables, warnings: [] }
  const tried = await Promise.all(
    tables.map(table =>
      load([table], source).then(
        () => ({ table }),
        (error: unknown) => ({ table, error }),
      ),
    ),
  )
  return {
    loadable: tried.flatMap(({ table, ...failed }) => ('error' in failed ? [] : [table])),
    warnings: tried.flatMap(({ table: { name }, ...failed }) => ('error' in failed ? [withoutRelations([name], failed.error)] : [])),
  }
}

/** As one module, so that a table which several files import is the same table in all of them; afresh each time, for the dev server; only what is transpiled is kept, by its text. */
async function load(tables: readonly CheckedRegistration[], { rootDir, alias }: TableSource): Promise<Tables> {
  const filename = `${rootDir}/auto-api-tables.mjs`
  const jiti = createJiti(filename, { alias, moduleCache: false })
  return await jiti.evalModule(generateRegistry(tables, rootDir), { filename, async: true }) as Tables
}

function withoutRelations(names: readonly string[], error: unknown): string {
  const [message] = String(error instanceof Error ? error.message : error).split('\n')
  return `${names.map(name => `\`${name}\``).join(', ')}: the table could not be loaded at build time, so the types know its columns but not its relations (${message}).`
}
