/** API tokens on every engine: the table that drizzle-kit creates, who is accepted, and how often their use is written. */
import { createRequire } from 'node:module'
import { getTableName, type Table } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiTokens as apiTokensPlugin } from '../../src/runtime/plugins'
import * as mysql from '../../src/runtime/plugins/schema-mysql'
import * as pg from '../../src/runtime/plugins/schema-pg'
import * as sqlite from '../../src/runtime/plugins/schema-sqlite'
import { DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { settle } from '../support/api-tokens'
import { createServer, type TestServer } from '../support/server'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'
import { isFull } from '../support/tiers'

const TABLES: Readonly<Record<Dialect, Table>> = { sqlite: sqlite.apiTokensTable(), pg: pg.apiTokensTable(), mysql: mysql.apiTokensTable() }

async function migration(dialect: Dialect): Promise<string> {
  const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')
  const apiTokens = TABLES[dialect] as never
  const statements = dialect === 'sqlite'
    ? await kit.generateSQLiteMigration(await kit.generateSQLiteDrizzleJson({}), await kit.generateSQLiteDrizzleJson({ apiTokens }))
    : dialect === 'pg'
      ? await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson({ apiTokens }))
      : await kit.generateMySQLMigration(await kit.generateMySQLDrizzleJson({}), await kit.generateMySQLDrizzleJson({ apiTokens }))
  return statements.join('\n')
}

/** The ids differ only in case: a database that ignores case would mix their tokens. */
const USERS = {
  ann: { id: 'ann', organizationId: 'one', permissions: ['tokens'] },
  ANN: { id: 'ANN', organizationId: 'one', permissions: ['tokens'] },
}

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('API tokens', () => {
    let opened: Opened
    let servers: readonly TestServer[]

    const startServer = () =>
      createServer({
        db: opened.db,
        engine: engineCase.engine,
        registrations: [
          {
            name: 'apiTokens',
            schema: TABLES[engineCase.dialect],
            authorization: { permissions: { read: 'tokens', create: 'tokens', update: 'tokens', delete: 'tokens' } },
          },
        ],
        config: { multiTenancy: DEFAULT_MULTI_TENANCY },
        plugins: [apiTokensPlugin({ findUser: id => USERS[id as keyof typeof USERS] ?? null, grace: 3600 })],
      })
    const as = (id: keyof typeof USERS, method: string, path: string, body?: unknown) =>
      servers[0]!.request(method, path, { body, caller: { user: USERS[id], permissions: USERS[id].permissions } })
    const make = async (id: keyof typeof USERS, body: object = {}) => {
      const answer = await as(id, 'POST', '/api/apiTokens', { name: 'x', scopes: ['apiTokens:read'], ...body })
      expect(answer.status, answer.text).toBe(201)
      return answer.body as { id: string, token: string, expiresAt: string, scopes: string[] }
    }
    const statusOf = async (token: string, server = servers[0]!) =>
      (await server.request('GET', '/api/apiTokens', { headers: { authorization: `Bearer ${token}` } })).status

    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(await migration(engineCase.dialect))
      servers = [await startServer(), await startServer()]
    })
    afterAll(async () => {
      await new Promise(resolve => setTimeout(resolve, 50))
      await opened?.close()
    })

    it('work, and are revoked for the next request on another instance', async () => {
      const { id, token, scopes, expiresAt } = await make('ann', { expiresAt: new Date(Date.now() + 86_400_000).toISOString() })
      expect({ scopes, expiresAt }).toEqual({ scopes: ['apiTokens:read'], expiresAt: expect.stringMatching(/Z$/) })
      expect(await Promise.all(servers.map(server => statusOf(token, server)))).toEqual([200, 200])
      expect((await as('ann', 'DELETE', `/api/apiTokens/${id}`)).status).toBe(200)
      expect(await Promise.all(servers.map(server => statusOf(token, server)))).toEqual([401, 401])
    })

    it('belong to their owner, byte for byte', async () => {
      const { id } = await make('ann')
      expect((await as('ANN', 'GET', `/api/apiTokens/${id}`)).status).toBe(404)
      expect((await as('ANN', 'DELETE', `/api/apiTokens/${id}`)).status).toBe(404)
      expect((await as('ann', 'GET', `/api/apiTokens/${id}`)).status).toBe(200)
    })

    it('are narrowed by one of two changes at the same time, and have one secret after two rotations', async () => {
      const { id, token: first } = await make('ann', { scopes: ['tokens', 'apiTokens:read'] })
      const changes = await Promise.all(
        [['tokens'], ['apiTokens:read']].map(scopes => as('ann', 'PATCH', `/api/apiTokens/${id}`, { scopes })),
      )
      const [done, refused] = changes.map(({ status }) => status).sort()
      // The second change is a conflict, or finds that the first has narrowed the scopes already.
      expect([done, [403, 412].includes(refused!)]).toEqual([200, true])
      const rotations = await Promise.all([1, 2].map(() => as('ann', 'POST', `/api/apiTokens/${id}/rotate`)))
      expect(rotations.map(({ status }) => status === 200 || status === 412)).toEqual([true, true])
      const tokens = rotations.filter(({ status }) => status === 200).map(({ body }) => body.token as string)
      // In its grace period, an old secret is accepted, but not for routes of tokens.
      expect((await Promise.all(tokens.map(token => statusOf(token)))).sort()).toEqual(tokens.length === 1 ? [200] : [200, 403])
      expect(await statusOf(first)).toBe(tokens.length === 1 ? 403 : 401)
    })

    it('have their use written at most once a minute, by all instances together', async () => {
      const { id, token } = await make('ann')
      opened.statements()
      const requests = isFull ? 1000 : 60
      await Promise.all(Array.from({ length: requests }, (_, index) => statusOf(token, servers[index % 2]!)))
      for (let wait = 0; wait < 40; wait++) await settle()
      const writes = opened.statements().filter(text => /^update/i.test(text) && text.includes('last_used_at'))
      expect(writes.length).toBeLessThanOrEqual(servers.length)
      const [first] = await opened.all(`select last_used_at from ${getTableName(TABLES[engineCase.dialect])} where id = '${id}'`)
      expect(first![0]).not.toBeNull()
      for (const server of servers) await statusOf(token, server)
      await settle()
      expect((await opened.all(`select last_used_at from api_tokens where id = '${id}'`))[0]).toEqual(first)
    })
  })
})
