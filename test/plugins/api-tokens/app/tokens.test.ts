/** The composables of API tokens, with another prefix: the secret is in the result that issues it, and in no cache. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { apiTokensTable } from '../../../../src/runtime/plugins/schema-sqlite'
import { TOKENS_AUTH, TOKENS_SQL } from '../../../support/api-tokens'
import { openClientServer, type ClientServer } from '../../../support/client-server'

const USER = { id: 1, permissions: ['edit', 'tokens'] }

let harness: ClientServer

beforeEach(async () => {
  harness = await openClientServer({
    prefix: '/internal/v2',
    sql: TOKENS_SQL,
    further: [{ name: 'apiTokens', schema: apiTokensTable(), authorization: TOKENS_AUTH }],
    // Loaded with the server, so that both have the same modules.
    plugins: [
      async () => (await import('../../../../src/runtime/plugins')).apiTokens({ findUser: id => id === '1' ? USER : null }),
      async () => (await import('../../../../src/runtime/plugins')).tokenIntrospection(),
    ],
  })
  harness.caller = { user: USER, permissions: USER.permissions }
})

afterEach(() => harness.close())

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the names of the test's own resources are not those of the types
type Loose = Record<string, (...args: any[]) => any>
const use = () => harness.composables as unknown as Loose

/** Everything that the caches of queries contain. */
const cached = () => JSON.stringify(harness.queryClient.getQueryCache().getAll().map(({ state, queryKey }) => [queryKey, state.data]))

it('make, list, rotate, introspect and revoke a token, and refetch the list after each change', async () => {
  const list = harness.setup(() => use().useAutoApiList!('apiTokens', { sort: '-createdAt' }))
  await list.suspense()
  expect(list.data.value.data).toEqual([])
  const made = await harness.setup(() => use().useAutoApiCreate!('apiTokens')).mutateAsync({ name: 'deploy', scopes: ['articles:read'] })
  expect(made).toMatchObject({ name: 'deploy', token: expect.stringMatching(/^aat_/) })
  expect(list.data.value.data).toMatchObject([{ id: made.id, start: made.token.slice(0, 8) }])

  const introspect = harness.setup(() => use().useAutoApiTokenIntrospect!())
  expect(await introspect.mutateAsync(made.token)).toMatchObject({ active: true, scope: 'articles:read', jti: made.id })
  const rotated = await harness.setup(() => use().useAutoApiTokenRotate!('apiTokens')).mutateAsync(made.id)
  expect(rotated).toMatchObject({ id: made.id, token: expect.stringMatching(/^aat_/) })
  expect(rotated.token).not.toBe(made.token)
  expect(list.data.value.data).toMatchObject([{ start: rotated.token.slice(0, 8) }])

  await harness.setup(() => use().useAutoApiDelete!('apiTokens')).mutateAsync(made.id)
  expect(list.data.value.data).toEqual([])
  expect(await introspect.mutateAsync(rotated.token)).toEqual({ active: false })
  const requests = harness.requests.filter(request => !request.startsWith('GET'))
  expect(requests).toEqual([
    'POST /internal/v2/apiTokens',
    'POST /internal/v2/tokens/introspect',
    `POST /internal/v2/apiTokens/${made.id}/rotate`,
    `DELETE /internal/v2/apiTokens/${made.id}`,
    'POST /internal/v2/tokens/introspect',
  ])
  for (const { token } of [made, rotated]) {
    expect(cached()).not.toContain(token.slice(8))
    expect(harness.requests.join()).not.toContain(token)
  }
})

it('reject with the error of the API', async () => {
  const rotate = harness.setup(() => use().useAutoApiTokenRotate!('apiTokens'))
  await expect(rotate.mutateAsync('..')).rejects.toMatchObject({ status: 404 })
  await expect(rotate.mutateAsync('unknown')).rejects.toMatchObject({ status: 404 })
  harness.caller = {}
  await expect(harness.setup(() => use().useAutoApiTokenIntrospect!()).mutateAsync('aat_x')).rejects.toMatchObject({ status: 401 })
})
