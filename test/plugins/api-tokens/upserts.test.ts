/** Upserts of tokens: none of them makes a token, because the response could not contain its secret. */
import { afterEach, expect, it } from 'vitest'
import { apiTokens, openTokenApi, type TokenApi } from '../../support/api-tokens'

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
