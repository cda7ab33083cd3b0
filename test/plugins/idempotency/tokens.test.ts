/** Idempotency keys of the requests that make a token: a retry makes no second token, and never repeats the secret. */
import { afterEach, expect, it } from 'vitest'
import { idempotency } from '../../../src/runtime/plugins/index'
import { idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import { openTokenApi, type TokenApi } from '../../support/api-tokens'

let api: TokenApi
afterEach(() => api?.close())

async function open() {
  api = await openTokenApi({ modules: [{ idempotencyKeys: idempotencyKeysTable() }], plugins: [idempotency()] })
  api.client.exec(`create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text,
    status integer, body text, created_at integer not null, expires_at integer not null)`)
}
const send = (path: string, body?: object) =>
  api.server.request('POST', `/api/apiTokens${path}`, { caller: api.session(1), headers: { 'idempotency-key': 'k' }, body })
const stored = () => JSON.stringify(api.client.prepare('select * from idempotency_keys').all())

it.each([
  ['makes', '', { name: 'deploy' }],
  ['makes several of', '/bulk', { items: [{ name: 'one' }, { name: 'two' }] }],
  ['rotates', '/:id/rotate', undefined],
])('%s a token once, and stores no secret', async (_what, path, body) => {
  await open()
  const { id, token: old } = await api.make(1)
  const url = path.replace(':id', id)
  const tokens = () => api.client.prepare('select id, token_hash from api_tokens order by id').all()
  const records = (response: { body: { data?: object[] } }) => (response.body.data ?? [response.body]) as { id: string, token?: string }[]
  const first = await send(url, body)
  const written = tokens()
  for (const { token } of records(first)) expect((await api.ask(token!, 'GET', '/api/posts')).status).toBe(200)
  const again = await send(url, body)
  expect([again.status, again.headers.get('idempotent-replayed'), tokens()]).toEqual([first.status, 'true', written])
  expect(records(again)).toEqual(records(first).map(({ token: _, ...record }) => ({ ...record, tokenAlreadyIssued: true })))
  for (const { token } of [{ token: old }, ...records(first)]) expect(stored() + again.text).not.toContain(token!.slice(8))
})
