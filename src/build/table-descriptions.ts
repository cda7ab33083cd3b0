/** Describes the registered tables at build time: relations and server-owned columns are not part of their TypeScript types. */
import { createJiti } from 'jiti'
import type { ResourceDescription } from '../runtime/server/schema/describe'
import type { ResourceRegistration } from '../runtime/server/registration'
import type { AutoApiConfig } from '../runtime/shared/config'
import type { CheckedRegistration } from './registration-keys'
import { generateRegistry } from './virtual/registry'

export interface Descriptions {
  readonly resources: readonly ResourceDescription[]
  /** Why some descriptions are missing. The build continues with the types of these tables. */
  readonly warnings: readonly string[]
  /** The error that the server would fail with at startup. It is known only if every table was loaded. */
  readonly error?: string
}

export interface TableSource {
  readonly registrations: readonly CheckedRegistration[]
  readonly config: AutoApiConfig
  readonly rootDir: string
  readonly alias: Record<string, string>
  /** The file of `describeResources`, which the server uses as well. */
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

/** Loads tables and relations only; authorization, validation and hooks are loaded by the server. */
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
    // Without warnings every table was loaded, so the error is not caused by a missing table.
    if (warnings.length === 0 && isOwnError(error)) return { resources: [], warnings, error: error.message }
    return { resources: [], warnings: [...warnings, withoutRelations(loadable.map(({ name }) => name), error)] }
  }
}

/** Whether the module threw the error, and not a file that cannot be loaded at build time. */
const isOwnError = (error: unknown): error is Error => error instanceof Error && error.message.startsWith('[auto-api] ')

/** The tables whose files can be loaded outside the server, so that one file does not prevent the types of the others. */
async function findLoadable(
  tables: readonly CheckedRegistration[],
  source: TableSource,
): Promise<{ loadable: readonly CheckedRegistration[], warnings: string[] }> {
  const canLoadAll = await load(tables, source).then(() => true, () => false)
  if (canLoadAll) return { loadable: tables, warnings: [] }
  const results = await Promise.all(
    tables.map(table =>
      load([table], source).then(
        () => ({ table }),
        (error: unknown) => ({ table, error }),
      ),
    ),
  )
  return {
    loadable: results.flatMap(({ table, ...failed }) => ('error' in failed ? [] : [table])),
    warnings: results.flatMap(({ table: { name }, ...failed }) => ('error' in failed ? [withoutRelations([name], failed.error)] : [])),
  }
}

/**
 * Loads the tables as one module, so that a table which several files import is one object. Modules are not cached, because files change
 * under the dev server; jiti caches the transpiled text.
 */
async function load(tables: readonly CheckedRegistration[], { rootDir, alias }: TableSource): Promise<Tables> {
  const filename = `${rootDir}/auto-api-tables.mjs`
  const jiti = createJiti(filename, { alias, moduleCache: false })
  return await jiti.evalModule(generateRegistry(tables, rootDir), { filename, async: true }) as Tables
}

function withoutRelations(names: readonly string[], error: unknown): string {
  const [message] = String(error instanceof Error ? error.message : error).split('\n')
  const list = names.map(name => `\`${name}\``).join(', ')
  return `${list}: the table could not be loaded at build time, so the types contain its columns but not its relations (${message}).`
}
