/** Upserts of tokens, none of which makes a token, because the response could not contain its secret; and upserts with tokens. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { apiTokens, openTokenApi, type TokenApi } from '../../support/api-tokens'

const tags = sqliteTable('tags', { id: integer('id').primaryKey(), slug: text('slug').unique(), name: text('name') })

let api: TokenApi
afterEach(async () => {
  await api?.close()
  Object.assign(apiTokens.name, { isUnique: false })
})

const rows = () => api.client.prepare('select * from api_tokens').all()

it.each(['id', 'tokenHash', 'previousHash', 'name', 'organizationId,id', ''])('`onConflict=%s` makes no token', async (on) => {
  api = await openTokenApi()
  const { id } = await api.make(1)
  const before = rows()
  for (const item of [{ id, name: 'changed' }, { id: crypto.randomUUID(), name: 'new' }, { name: 'new' }, { tokenHash: 'x', name: 'new' }]) {
    for (const [path, body] of [['', item], ['/bulk', { items: [item] }]] as const) {
      const { status, text } = await api.server.request('POST', `/api/apiTokens${path}?onConflict=${on}`, { caller: api.session(1), body })
      expect([status, rows()]).toEqual([400, before])
      expect(text).not.toContain('"token"')
    }
  }
})

it('makes no token where the app has given the table a constraint of its own, and can update one', async () => {
  Object.assign(apiTokens.name, { isUnique: true, uniqueName: 'names' })
  api = await openTokenApi()
  const { id } = await api.make(1, { name: 'deploy', scopes: ['posts:read', 'notes:read'] })
  const before = rows()
  const send = (path: string, body: object) => api.server.request('POST', `/api/apiTokens${path}?onConflict=name`, { caller: api.session(1), body })
  const refused = [await send('', { name: 'new' }), await send('/bulk', { items: [{ name: 'deploy' }, { name: 'new' }] })]
  expect([...refused.map(({ status }) => status), rows()]).toEqual([400, 400, before])
  const updated = await send('', { name: 'deploy', scopes: ['posts:read'] })
  expect([updated.status, updated.body.id, updated.body.scopes, updated.body.token]).toEqual([200, id, ['posts:read'], undefined])
})

describe('a token with scopes', () => {
  it.each<[scopes: string[], slugs: string[], status: number]>([
    [['tags:create', 'tags:update'], ['old', 'new'], 200],
    [['tags:create'], ['new'], 200],
    [['tags:update'], ['old'], 200],
    [['tags:create'], ['old'], 403],
    [['tags:update'], ['new'], 403],
    [['tags:create'], ['new', 'old'], 403],
    [['tags:update'], ['old', 'new'], 403],
    [['tags:read', 'tags:delete'], ['old'], 403],
  ])('%j, that upserts %j, gets %i', async (scopes, slugs, status) => {
    const permissions = { read: true, create: 'tokens', update: 'tokens', delete: 'tokens' }
    api = await openTokenApi({
      before: 'create table tags (id integer primary key, slug text unique, name text); insert into tags values (1, \'old\', \'Old\');',
      registrations: [{ name: 'tags', schema: tags, authorization: { permissions } }],
      config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['tags'] } },
    })
    const { token } = await api.make(1, { scopes })
    const stored = () => api.client.prepare('select slug, name from tags order by id').raw().all()
    const before = stored()
    const items = slugs.map(slug => ({ slug, name: 'New' }))
    expect((await api.ask(token, 'POST', '/api/tags/bulk?onConflict=slug', { body: { items } })).status).toBe(status)
    expect(JSON.stringify(stored()) === JSON.stringify(before)).toBe(status === 403)
  })
})
