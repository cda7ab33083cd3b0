/** The database and the schema of NuxtHub, as the build finds them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findHub, findHubTable, isHubModule } from '../../../src/build/nuxthub'
import { readResourceFile } from '../../../src/build/resource-file'

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
