/** The files that the docs pages of the plugins show under "Install". */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { expect, it } from 'vitest'
import { collectPlugins } from '../../src/build/plugins'
import { apiTokens } from '../../src/runtime/plugins'
import { createTestApi } from '../../src/runtime/testing'
import { createTablesSql } from '../support/create-tables'
import { root } from '../support/once'
import * as schema from './api-tokens/examples/server/database/schema'
import apiTokensResource from './api-tokens/examples/server/resources/apiTokens'

const files = globSync('test/plugins/*/examples/**/nuxt.config.ts', { cwd: root }).sort()

it.each(files)('lists plugins that the build accepts: %s', async (file) => {
  const { default: config } = await import(join(root, file)) as { default: { autoApi: { plugins: readonly object[] } } }
  const { sources, problems } = await collectPlugins(config.autoApi.plugins, () => {}, path => path, root)
  expect([sources.length, problems]).toEqual([config.autoApi.plugins.length, []])
})

it('lets signed-in users create tokens', async () => {
  const client = new Database(':memory:')
  client.exec(await createTablesSql('sqlite', schema))
  const api = await createTestApi({
    database: drizzle({ client }),
    engine: 'better-sqlite3',
    resources: { apiTokens: apiTokensResource },
    plugins: [apiTokens({ findUser: id => ({ id, permissions: [] }) })],
    callers: { ann: { user: { id: 'ann' } } },
  })
  const { status, body } = await api.as('ann').post<{ token: string }>('/apiTokens', { name: 'deploy' })
  expect([status, body.token]).toEqual([201, expect.stringMatching(/^aat_/)])
  expect((await api.as('anonymous').get('/apiTokens')).status).toBe(401)
  client.close()
})
