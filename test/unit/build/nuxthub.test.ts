/** The database and the schema of NuxtHub, as the build finds them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { loadNuxt } from '@nuxt/kit'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { findHub, findHubTable, isHubModule, watchHub } from '../../../src/build/nuxthub'
import { readResourceFile } from '../../../src/build/resource-file'
import { createAppFolder } from '../../support/copy'

const root = mkdtempSync(join(tmpdir(), 'hub-'))
afterAll(() => rmSync(root, { recursive: true }))
const file = (path: string, text: string) => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
  return join(root, path)
}

type Nuxt = Parameters<typeof findHub>[0]
const nuxtOf = (hub: unknown, added: readonly string[] = []) => ({
  options: { runtimeConfig: hub === undefined ? {} : { hub }, _layers: [{ cwd: root, config: {} }] },
  callHook: async (name: string, { paths }: { paths: string[] }) => {
    if (name === 'hub:db:schema:extend') paths.push(...added)
  },
}) as unknown as Nuxt

describe('the database of NuxtHub', () => {
  it.each([undefined, {}, { db: false }, { kv: true }])('is absent: %j', async (hub) => {
    expect(await findHub(nuxtOf(hub))).toBeUndefined()
  })

  it.each([
    ['sqlite', 'libsql', 'libsql'], ['sqlite', 'd1', 'd1'], ['postgresql', 'postgres-js', 'postgres'], ['postgresql', 'pglite', 'postgres'],
    ['mysql', 'mysql2', 'mysql'],
  ])('of %s with %s has the engine %s', async (dialect, driver, engine) => {
    expect(await findHub(nuxtOf({ db: { dialect, driver } }))).toMatchObject({ dialect, driver, engine, problems: [] })
  })

  it.each([['neon-http', /postgres-js/], ['d1-http', /driver `d1`/], ['new-driver', /Use one of: libsql/]])('is refused with %s', async (driver, instead) => {
    const hub = await findHub(nuxtOf({ db: { dialect: 'sqlite', driver } }))
    expect(hub).not.toHaveProperty('engine')
    expect(hub!.problems).toMatchObject([{ where: 'hub.db', what: expect.stringContaining(driver), instead: expect.stringMatching(instead) }])
  })
})

describe('an option `hub.db`, as NuxtHub resolves it', () => {
  const URLS = ['DATABASE_URL', 'POSTGRES_URL', 'POSTGRESQL_URL', 'MYSQL_URL', 'TURSO_DATABASE_URL', 'TURSO_AUTH_TOKEN']

  it.each([
    ['sqlite', '', ['sqlite', 'libsql', 'libsql']],
    ['postgresql', '', ['postgresql', 'pglite', 'postgres']],
    ['postgresql', 'postgres://localhost/app', ['postgresql', 'postgres-js', 'postgres']],
    ['mysql', 'mysql://localhost/app', ['mysql', 'mysql2', 'mysql']],
    [{ dialect: 'sqlite', driver: 'd1' }, '', ['sqlite', 'd1', 'd1']],
  ])('%j with the URL "%s" is %j', async (db, url, expected) => {
    for (const name of URLS) vi.stubEnv(name, name === 'DATABASE_URL' ? url : '')
    const cwd = createAppFolder()
    const nuxt = await loadNuxt({
      cwd, overrides: { modules: [fileURLToPath(import.meta.resolve('@nuxthub/core'))], hub: { db }, logLevel: 'silent' } as object,
    })
    try {
      const { dialect, driver, engine, problems } = (await findHub(nuxt))!
      expect([dialect, driver, engine, problems]).toEqual([...expected, []])
    }
    finally {
      await nuxt.close()
      rmSync(cwd, { recursive: true })
      vi.unstubAllEnvs()
    }
  })
})

describe('the schema of NuxtHub', () => {
  it('is in the files of the folder, for the dialect, and in those of other modules', async () => {
    const schema = file('server/db/schema.ts', 'export const users = sqliteTable(\'users\', {})')
    const posts = file('server/db/schema/posts.ts', 'export const posts = sqliteTable(\'posts\', {})\nexport const postsById = 1')
    file('server/db/schema/posts.mysql.ts', 'export const posts = mysqlTable(\'posts\', {})')
    const added = file('module/schema.ts', 'export const tokens = sqliteTable(\'tokens\', {})')
    const hub = (await findHub(nuxtOf({ db: { dialect: 'sqlite', driver: 'libsql' } }, [added])))!
    expect(hub.schema).toEqual([schema, posts, added])
    expect(['users', 'posts', 'tokens', 'postsBy'].map(name => findHubTable(hub, name))).toEqual([schema, posts, added, schema])
  })
})

describe('in development', () => {
  it('restarts Nuxt for a new table, a new file and a migration, and not for a column', async () => {
    const migrations = join(root, 'server/db/migrations')
    const table = (name: string, columns = '{}') => file(`server/db/schema/${name}.ts`, `export const ${name} = sqliteTable('${name}', ${columns})`)
    table('posts')
    const hooks: Record<string, () => void> = {}
    const restart = vi.fn()
    const made = nuxtOf({ db: { dialect: 'sqlite', driver: 'libsql', migrationsDirs: [migrations] } })
    const nuxt = {
      options: { ...made.options, dev: true },
      hook: (name: string, run: () => void) => hooks[name] = run,
      callHook: async (name: string) => name === 'restart' && restart(),
    } as unknown as Nuxt
    watchHub(nuxt, (await findHub(nuxt))!)
    const restarts = (count: number) => vi.waitFor(() => expect(restart).toHaveBeenCalledTimes(count), { timeout: 10_000 })
    try {
      table('lists')
      await restarts(1)
      table('posts', '{ title: text() }')
      await setTimeout(500)
      expect(restart).toHaveBeenCalledTimes(1)
      file('server/db/schema/lists.ts', 'export const lists = 1\nexport const items = 2')
      await restarts(2)
      file('server/db/migrations/sqlite/0000_start.sql', 'select 1')
      await restarts(3)
      file('server/db/migrations/sqlite/0001_next.sql', 'select 1')
      await restarts(4)
    }
    finally {
      hooks.close!()
    }
  })

  it('watches no migrations that NuxtHub does not apply', async () => {
    const db = { dialect: 'sqlite', driver: 'libsql', migrationsDirs: [root], applyMigrationsDuringDev: false }
    expect(await findHub(nuxtOf({ db }))).toMatchObject({ migrations: [] })
  })
})

describe('a resource file', () => {
  const read = (text: string) => readResourceFile({ name: 'posts', path: '/app/server/resources/posts.ts', displayPath: 'posts.ts' }, text)

  it.each([
    ['import { posts } from \'hub:db:schema\'', 'posts', 'hub:db:schema'],
    ['import * as schema from \'hub:db:schema\'', 'schema.posts', 'hub:db:schema'],
    ['import { schema } from \'hub:db\'', 'schema.posts', 'hub:db'],
    ['import { schema as tables } from \'@nuxthub/db\'', 'tables.posts', '@nuxthub/db'],
    ['', 'schema.posts', 'hub:db'],
  ])('names a table: %s', (head, table, path) => {
    const { registration, problems } = read(`${head}\nexport default defineResource(${table}, { permissions: { read: true } })`)
    expect(problems).toEqual([])
    expect(registration?.schema).toMatchObject({ path, name: 'posts' })
    expect(isHubModule(path)).toBe(true)
  })

  it('of another import named schema is read as before', () => {
    const { problems } = read('import { schema } from \'./other\'\nexport default defineResource(schema.posts, {})')
    expect(problems[0]?.what).toContain('is not the name of an imported table')
  })
})
