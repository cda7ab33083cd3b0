/** NuxtHub: finds its database and its schema, so that an app with `hub: { db }` configures neither. Without NuxtHub, nothing happens. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { addServerPlugin, addTemplate } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { join } from 'pathe'
import { DOCS, type Problem } from './problem'
import { watchFolders } from './watch-folders'

/** What NuxtHub writes into the runtime config, as far as this file reads it. */
interface HubDatabase {
  readonly dialect?: string
  readonly driver?: string
  readonly migrationsDirs?: readonly string[]
  readonly applyMigrationsDuringDev?: boolean
}

/** The engine of each driver of NuxtHub. The others have no transactions. */
const ENGINES: Readonly<Record<string, string>> = {
  'libsql': 'libsql', 'd1': 'd1', 'postgres-js': 'postgres', 'pglite': 'postgres', 'mysql2': 'mysql',
}

const INSTEAD: Readonly<Record<string, string>> = {
  'neon-http': 'Use the driver `postgres-js` with the same URL.',
  'd1-http': 'Use the driver `d1`.',
}

/** The modules from which an app of NuxtHub imports its tables. */
export const isHubModule = (path: string): boolean => /^(?:hub:db(?::schema)?|@nuxthub\/db(?:\/schema)?)$/.test(path)

export interface Hub {
  readonly dialect: string
  readonly driver: string
  /** Absent if the API does not support the driver. */
  readonly engine?: string
  /** The files of the schema. */
  readonly schema: readonly string[]
  /** The folders of the migrations that NuxtHub applies in development. */
  readonly migrations: readonly string[]
  readonly problems: readonly Problem[]
}

/** Finds the database of NuxtHub, when all modules are set up. */
export async function findHub(nuxt: Nuxt): Promise<Hub | undefined> {
  const { hub } = nuxt.options.runtimeConfig as { readonly hub?: { readonly db?: HubDatabase | false } }
  const { dialect, driver, migrationsDirs = [], applyMigrationsDuringDev = true } = hub?.db || {}
  if (dialect === undefined || driver === undefined) return undefined
  const engine = Object.hasOwn(ENGINES, driver) ? ENGINES[driver] : undefined
  const problem: Problem = {
    where: 'hub.db',
    what: `uses the driver \`${driver}\`, which runs no transactions`,
    instead: `${INSTEAD[driver] ?? `Use one of: ${Object.keys(ENGINES).join(', ')}.`} → ${DOCS}/1.start/4.nuxthub.md`,
  }
  const migrations = applyMigrationsDuringDev ? migrationsDirs.flatMap(folder => [folder, join(folder, dialect)]) : []
  const found = { dialect, driver, migrations, schema: await findSchema(nuxt, dialect) }
  return engine === undefined ? { ...found, problems: [problem] } : { ...found, engine, problems: [] }
}

/** The files that NuxtHub makes its schema of: `server/db/schema.ts`, `schema.<dialect>.ts` and `schema/*.ts` of each layer. */
async function findSchema(nuxt: Nuxt, dialect: string): Promise<readonly string[]> {
  const paths = foldersOf(nuxt).flatMap((folder) => {
    const own = join(folder, 'schema')
    const inFolder = existsSync(own) ? readdirSync(own).filter(name => name.endsWith('.ts')).sort().map(name => join(own, name)) : []
    return [`${own}.ts`, `${own}.${dialect}.ts`, ...inFolder].filter(path => existsSync(path))
  })
  // Other modules can add tables.
  const callHook = nuxt.callHook.bind(nuxt) as unknown as (name: string, schema: { dialect: string, paths: string[] }) => Promise<void>
  await callHook('hub:db:schema:extend', { dialect, paths })
  const isForOther = (path: string) => {
    const [, named] = /\.(sqlite|postgresql|mysql)\.ts$/.exec(path) ?? []
    return named !== undefined && named !== dialect
  }
  return paths.filter(path => !isForOther(path))
}

/** The folder `server/db` of each layer. */
const foldersOf = ({ options }: Nuxt): string[] =>
  options._layers.map(({ cwd, config }) => join(config.serverDir || join(config.srcDir ?? cwd, 'server'), 'db'))

/** Returns the file of the schema that exports a table. The file that NuxtHub makes of them does not exist yet while the build begins. */
export function findHubTable({ schema }: Hub, name: string): string | undefined {
  const declares = new RegExp(`\\bexport\\s+(?:const|let|var)\\s+${name.replaceAll('$', '\\$')}(?![\\w$])`)
  return schema.find(path => declares.test(readFileSync(path, 'utf8'))) ?? schema[0]
}

/**
 * Restarts Nuxt in development when the schema gets other files or other exports, or when a migration changes: NuxtHub applies migrations
 * only when it starts. Nitro itself reloads a table that gets other columns.
 */
export function watchHub(nuxt: Nuxt, { dialect, schema, migrations }: Hub): void {
  let current = stateOf(schema, migrations)
  const folders = [...foldersOf(nuxt).flatMap(folder => [folder, join(folder, 'schema')]), ...migrations]
  watchFolders(nuxt, folders, async () => {
    const now = stateOf(await findSchema(nuxt, dialect), migrations)
    if (now === current) return
    current = now
    await nuxt.callHook('restart')
  })
}

function stateOf(schema: readonly string[], migrations: readonly string[]): string {
  const exported = (path: string) =>
    existsSync(path) ? [...readFileSync(path, 'utf8').matchAll(/\bexport\s+(?:const|let|var)\s+([\w$]+)/g)].map(([, name]) => name) : []
  const files = migrations.filter(folder => existsSync(folder))
    .flatMap(folder => readdirSync(folder).filter(name => name.endsWith('.sql')).sort().map(name => join(folder, name)))
  return JSON.stringify([
    schema.map(path => [path, exported(path)]),
    files.map(path => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs]),
  ])
}

/** Passes the database of NuxtHub to the API when the server starts. A server plugin of the app can replace it. */
export function addHubDatabase({ driver, engine }: Hub, resolve: (path: string) => string): void {
  if (engine === undefined) return
  // On Workers, the binding exists in a request only.
  const database = driver === 'd1' ? '() => db' : 'db'
  // Nitro takes a plugin for a file. In development, it would leave an `.mjs` file outside the bundle, where Node does not find the import.
  const { dst } = addTemplate({
    filename: 'auto-api/nuxthub.ts',
    write: true,
    getContents: () => [
      'import { db } from \'hub:db\'',
      `import { initializeDatabase } from ${JSON.stringify(resolve('./runtime/server/database'))}`,
      '',
      `export default () => initializeDatabase(${database}, ${JSON.stringify(engine)})\n`,
    ].join('\n'),
  })
  addServerPlugin(dst)
}
