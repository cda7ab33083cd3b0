/** The types of the test kit: names of callers, rows per resource, bodies. */
import { describe, expectTypeOf, test } from 'vitest'
import { createTestApi, expectAccess, expectNoLeaks, expectNoninterference, type NoninterferenceReport, type TestApi } from '../../src/runtime/testing'

declare const api: TestApi<'anonymous' | 'ann'>

describe('createTestApi', () => {
  test('knows the callers', async () => {
    const remote = await createTestApi({ url: 'http://localhost', callers: { ann: { headers: { cookie: 'a' } } } })
    expectTypeOf(remote).toEqualTypeOf<TestApi<'anonymous' | 'ann'>>()
    // @ts-expect-error bob is no caller
    remote.as('bob')
  })

  test('requires a database in this process, and nothing but the address over HTTP', async () => {
    // @ts-expect-error no database
    await createTestApi({ resources: {}, engine: 'libsql' })
    // @ts-expect-error the engine does not exist
    await createTestApi({ resources: {}, database: {}, engine: 'oracle' })
    await createTestApi({ url: 'http://localhost' })
  })

  test('returns a body of the given type, otherwise an unknown one', async () => {
    expectTypeOf((await api.as('ann').get<{ id: number }>('/posts/1')).body).toEqualTypeOf<{ id: number }>()
    expectTypeOf((await api.as('ann').get('/posts/1')).body).toEqualTypeOf<unknown>()
    expectTypeOf((await api.as('ann').get('/posts/1')).code).toEqualTypeOf<string | undefined>()
  })
})

describe('expectations', () => {
  test('take the rows of one resource, or of all resources by name', () => {
    expectAccess(api, 'posts').rows({ own: 1, linked: [1, 2], token: 'x' })
    expectAccess(api).rows({ posts: { own: 1 }, logs: false })
    // @ts-expect-error the rows of one resource have ids
    expectAccess(api, 'posts').rows({ posts: { own: 1 } })
    // @ts-expect-error the rows of all resources are listed by resource
    expectAccess(api).rows({ own: 1 })
  })

  test('take the names of callers', () => {
    expectAccess(api).as(['anonymous', 'ann'])
    // @ts-expect-error bob is no caller
    expectAccess(api).as(['bob'])
    void expectNoLeaks(api, { as: 'ann', rows: { posts: [1] }, fields: { posts: ['margin'] }, secrets: ['text', 1] })
    // @ts-expect-error bob is no caller
    void expectNoLeaks(api, { as: 'bob' })
    expectTypeOf(expectNoninterference(api, { as: ['ann'], runs: 10, ignore: ({ method }) => method !== 'GET' }))
      .resolves.toEqualTypeOf<NoninterferenceReport>()
    void expectNoninterference(api, { as: 'ann', worlds: [() => {}, async () => {}] })
    // @ts-expect-error bob is no caller
    void expectNoninterference(api, { as: 'bob' })
    // @ts-expect-error two worlds are compared
    void expectNoninterference(api, { as: 'ann', worlds: [() => {}] })
  })
})
