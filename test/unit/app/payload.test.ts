/** What the server sends of the queries of a page is what the browser starts with. */
import { QueryClient, type InfiniteData } from '@tanstack/vue-query'
import { parse, stringify } from 'devalue'
import { assert, constant, dictionary, integer, json, oneof, property, record, string } from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { AutoApiError } from '../../../src/runtime/app/error'
import { restore, toSentQueries, type SentQuery } from '../../../src/runtime/app/payload'
import { addResponse } from '../../../src/runtime/app/responses'
import { autoApiTag, setTag } from '../../../src/runtime/app/tags'

vi.mock('../../../src/runtime/app/nuxt', () => ({ prefix: '/api', hasNested: false, resources: {} }))

const KEY = ['auto-api', 'posts', 'list', {}]

/** Sends the queries as Nuxt does. */
function send(server: QueryClient): { browser: QueryClient, sent: SentQuery[], text: string } {
  const text = stringify(toSentQueries(server))
  const browser = new QueryClient()
  const sent = parse(text) as SentQuery[]
  restore(browser, sent)
  return { browser, sent, text }
}

/** A client with one query, whose data is the response `body`. */
async function load(body: unknown, tag?: string): Promise<QueryClient> {
  const server = new QueryClient()
  await server.query({
    queryKey: KEY,
    queryFn: () => {
      const response = JSON.parse(JSON.stringify(body)) as unknown
      addResponse(response)
      setTag(response, tag)
      return response
    },
  })
  return server
}

const stateOf = (client: QueryClient, queryKey: readonly unknown[] = KEY) => client.getQueryState(queryKey)

describe('the queries of a page', () => {
  it('have the same state in the browser, for every response', async () => {
    const values = oneof(
      json().map(text => JSON.parse(text) as unknown),
      string({ unit: 'binary' }),
      constant('</script><script>alert(1)</script>'),
    )
    const bodies = record({ data: oneof(values, dictionary(string(), values)), meta: record({ total: integer() }) })
    await assert(property(bodies, (body) => {
      const server = new QueryClient()
      const response = JSON.parse(JSON.stringify(body)) as unknown
      addResponse(response)
      server.setQueryData(KEY, response)
      const { browser, sent, text } = send(server)
      expect(sent).toMatchObject([{ json: JSON.stringify(response) }])
      expect(text).not.toContain('</')
      expect(stateOf(browser)).toEqual(stateOf(server))
    }))
  })

  it('keep the tag of a record', async () => {
    const { browser } = send(await load({ id: 1 }, '"a"'))
    expect(autoApiTag(browser.getQueryData(KEY))).toBe('"a"')
  })

  it('are sent as one text per response, also for the pages of an infinite list', async () => {
    const server = new QueryClient()
    await server.infiniteQuery({
      queryKey: KEY,
      initialPageParam: '',
      pages: 2,
      getNextPageParam: () => 'next',
      queryFn: ({ pageParam }) => {
        const page = { data: [{ id: 1 }], meta: { nextCursor: pageParam } }
        addResponse(page)
        return page
      },
    })
    const { browser, sent } = send(server)
    expect(sent).toMatchObject([{ queryType: 'infinite', json: expect.any(String) }])
    expect(browser.getQueryData<InfiniteData<unknown>>(KEY)?.pageParams).toEqual(['', 'next'])
    expect(stateOf(browser)).toEqual(stateOf(server))
  })

  it('keep what is not JSON in data that the app has set', async () => {
    const server = await load({ data: [] })
    const other = ['weather']
    server.setQueryData(KEY, { data: [], at: new Date(5), none: undefined })
    server.setQueryData(other, new Map([['wind', { since: new Date(6) }]]))
    const { browser, sent } = send(server)
    expect(sent.map(query => 'json' in query)).toEqual([false, false])
    expect(stateOf(browser)).toEqual(stateOf(server))
    expect(stateOf(browser, other)).toEqual(stateOf(server, other))
  })

  it('keep a response when a refetch has failed, and leave out what has neither data nor an error of the API', async () => {
    const refuse = (error: Error) => ({ queryFn: () => Promise.reject(error) })
    const server = await load({ data: [1] })
    const problem = { status: 403, code: 'FORBIDDEN', message: 'No.', issues: [], fields: [], errors: [] }
    await server.query({ queryKey: KEY, ...refuse(new AutoApiError(problem)) }).catch(() => {})
    await server.query({ queryKey: ['weather'], ...refuse(new Error('No.')) }).catch(() => {})
    const { browser } = send(server)
    expect(browser.getQueryCache().getAll()).toHaveLength(1)
    expect(stateOf(browser)).toMatchObject({ data: { data: [1] }, status: 'error', error: problem })
    expect(stateOf(browser)?.error).toBeInstanceOf(AutoApiError)
  })

  it('send a body of another type than JSON as it is', () => {
    const server = new QueryClient()
    const bodies = [new Map([[1, 2]]), 'text', null]
    for (const [index, body] of bodies.entries()) {
      addResponse(body)
      server.setQueryData([index], body)
    }
    const { browser } = send(server)
    expect(bodies.map((_, index) => browser.getQueryData([index]))).toEqual(bodies)
  })
})
