/** Where the secret of a new token is added to a response, and where not. */
import { describe, expect, it } from 'vitest'
import { ROTATE } from '../../../src/runtime/plugins/api-tokens/server/rotate'
import { createIssuedSecrets } from '../../../src/runtime/server/plugin/issued'
import type { TokenRow } from '../../../src/runtime/plugins/api-tokens/server/row'
import type { AutoApiContext } from '../../../src/runtime/server/registration'

const contextOf = (event = {}, resource = 'apiTokens') => ({ event, resource }) as unknown as AutoApiContext
const response = (body: unknown, headers?: Record<string, string>) => ({ status: 200, body, ...headers && { headers } })

const createIssuedTokens = (resource: string) => createIssuedSecrets<TokenRow>({ resource, key: 'token', rotate: ROTATE })
type Issued = ReturnType<typeof createIssuedTokens>
const answer = ({ onResponse }: Issued, ctx: AutoApiContext, route: string, body: unknown, headers?: Record<string, string>) =>
  onResponse(ctx, response(body, headers) as never, { route } as never) as {
    body: Record<string, unknown>
    headers?: Record<string, string>
  }

describe('the secret of a token', () => {
  it.each(['create', ROTATE])('is in the response of %s once, which is never stored', (route) => {
    const issued = createIssuedTokens('apiTokens')
    const ctx = contextOf()
    issued.add(ctx, 'secret')
    expect(answer(issued, ctx, route, { id: 1 }, { 'x-a': 'b' })).toEqual({
      status: 200,
      body: { id: 1, token: 'secret' },
      headers: { 'x-a': 'b', 'cache-control': 'no-store' },
    })
    expect(answer(issued, ctx, route, { id: 1 }).body).toEqual({ id: 1 })
  })

  it('is with its record in a bulk response, in the order of the items', () => {
    const issued = createIssuedTokens('apiTokens')
    const event = {}
    const items = [contextOf(event), contextOf(event)]
    items.forEach((ctx, index) => issued.prepare(ctx, `secret ${index}`))
    items.forEach(issued.confirm)
    expect(answer(issued, contextOf(event), 'bulk-create', { data: [{ id: 1 }, { id: 2 }], meta: {} }).body).toEqual({
      data: [
        { id: 1, token: 'secret 0' },
        { id: 2, token: 'secret 1' },
      ],
      meta: {},
    })
  })

  it('is in no response if the row was not written', () => {
    const issued = createIssuedTokens('apiTokens')
    const ctx = contextOf()
    issued.prepare(ctx, 'secret')
    expect(answer(issued, ctx, 'create', { id: 1 }).body).toEqual({ id: 1 })
    issued.confirm(contextOf(ctx.event))
    expect(answer(issued, ctx, 'create', { id: 1 }).body).toEqual({ id: 1 })
  })

  it.each(['update', 'get', 'list', 'toString'])('is not in the response of %s, which can be stored', (route) => {
    const issued = createIssuedTokens('apiTokens')
    const ctx = contextOf()
    issued.add(ctx, 'secret')
    expect(answer(issued, ctx, route, { id: 1 })).toEqual({ status: 200, body: { id: 1 } })
  })

  it('is not in the response of another resource or of another request', () => {
    const issued = createIssuedTokens('apiTokens')
    const event = {}
    issued.add(contextOf(event), 'secret')
    expect(answer(issued, contextOf(event, 'posts'), 'create', { id: 1 })).toEqual({ status: 200, body: { id: 1 } })
    expect(answer(issued, contextOf({}), 'create', { id: 1 }).body).toEqual({ id: 1 })
    expect(answer(issued, contextOf(event), 'create', { id: 1 }).body).toEqual({ id: 1, token: 'secret' })
  })
})

describe('a repeated response', () => {
  it('says that the secret was issued, whatever its other headers are', () => {
    const issued = createIssuedTokens('apiTokens')
    for (const headers of [{ 'Idempotent-Replayed': 'true' }, { 'etag': '"a"', 'idempotent-replayed': 'true' }] as Record<string, string>[])
      expect(answer(issued, contextOf(), 'create', { id: 1 }, headers).body).toEqual({ id: 1, tokenAlreadyIssued: true })
    expect(answer(issued, contextOf(), 'bulk-create', { data: [{ id: 1 }] }, { 'Idempotent-Replayed': 'true' }).body).toEqual({
      data: [{ id: 1, tokenAlreadyIssued: true }],
    })
  })

  it('is one with the header, and no other', () => {
    const issued = createIssuedTokens('apiTokens')
    for (const headers of [undefined, {}, { etag: '"a"' }] as (Record<string, string> | undefined)[])
      expect(answer(issued, contextOf(), 'create', { id: 1 }, headers).body).toEqual({ id: 1 })
  })
})

describe('a rotation', () => {
  it('is the next update of its request, and no further one', () => {
    const issued = createIssuedTokens('apiTokens')
    const [ctx, row] = [contextOf(), { id: 'a' } as TokenRow]
    expect(issued.takeRotation(ctx)).toBeUndefined()
    issued.beginRotation(ctx, row)
    expect(issued.takeRotation(contextOf())).toBeUndefined()
    expect(issued.takeRotation(ctx)).toBe(row)
    expect(issued.takeRotation(ctx)).toBeUndefined()
  })
})
