/** What several built servers share over Postgres and Redis: tokens, limits, tasks and idempotency keys. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, REDIS, SERVICES } from '../support/services'
import { request, startOrders, type Orders } from './servers/orders'

const needed = [REDIS, SERVICES.find(({ name }) => name === 'postgres')!]
const reachable = (await Promise.all(needed.map(isReachable))).every(Boolean)

describe.skipIf(!reachable)('three servers on one Postgres and one Redis', () => {
  let orders: Orders
  beforeAll(async () => void (orders = await startOrders({ count: 3 })))
  afterAll(() => orders?.stop())

  const on = (server: number) => orders.servers[server % 3]!
  const everywhere = <T>(run: (server: number) => Promise<T>) => Promise.all([0, 1, 2].map(run))
  const statuses = (token: string) => everywhere(async server =>
    (await on(server).request('/api/orders', { headers: { authorization: `Bearer ${token}` } })).status)
  const createToken = async () =>
    (await request(on(0), 'POST', '/apiTokens', { body: { name: 'script' } })).body as { id: string, token: string }

  it.each([0, 1, 2])('refuse a token at once after server %i has revoked it', async (server) => {
    const { id, token } = await createToken()
    expect(await statuses(token)).toEqual([200, 200, 200])
    expect((await request(on(server), 'DELETE', `/apiTokens/${id}`)).status).toBe(200)
    expect(await statuses(token)).toEqual([401, 401, 401])
  })

  it.each([0, 1, 2])('refuse what a token cannot do any more after server %i has changed its scopes', async (server) => {
    const { id, token } = await createToken()
    expect(await statuses(token)).toEqual([200, 200, 200])
    expect((await request(on(server), 'PATCH', `/apiTokens/${id}`, { body: { scopes: ['lines:read'] } })).status).toBe(200)
    expect(await statuses(token)).toEqual([403, 403, 403])
  })

  it('accept a rotated token at once, and the old one until its grace period ends', async () => {
    const { id, token } = await createToken()
    const { status, body } = await request(on(1), 'POST', `/apiTokens/${id}/rotate`)
    expect(status).toBe(200)
    expect([await statuses(body.token), await statuses(token)]).toEqual([[200, 200, 200], [200, 200, 200]])
    await orders.database.query(`update api_tokens set previous_until = now() where id = '${id}'`)
    expect([await statuses(body.token), await statuses(token)]).toEqual([[200, 200, 200], [401, 401, 401]])
  })

  it('store the last use of a token once, although all of them see it at the same time', async () => {
    const { id, token } = await createToken()
    await statuses(token)
    const read = async () =>
      (
        await orders.database.query<{ at: Date | null, xmin: string }>(
          `select last_used_at as at, xmin::text from api_tokens where id = '${id}'`,
        )
      )[0]!
    await expect.poll(async () => (await read()).at).not.toBeNull()
    const { xmin } = await read()
    for (let round = 0; round < 3; round++) await statuses(token)
    await wait(300)
    expect((await read()).xmin).toBe(xmin)
  })

  it('count together: of 100 parallel requests, exactly the allowed 20 succeed', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => request(on(index), 'GET', '/orders/aggregate?aggregate=count')),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 20 }, () => 200),
      ...Array.from({ length: 80 }, () => 429),
    ])
  })

  it('run a due task once, although Nitro starts it on all of them again and again', async () => {
    const begun = Math.floor(Date.now() / 60_000)
    for (let round = 0; round < 5; round++) {
      await everywhere(server => on(server).request('/run-task', { method: 'POST' }))
      await wait(100)
    }
    const count = async (name: string) => (await orders.database.query(`select 1 from work where name = '${name}'`)).length
    await expect.poll(() => count('task ends')).toBeGreaterThan(0)
    // The timers of the servers run the task too, if a minute has passed since the start.
    const due = 2 + Math.floor(Date.now() / 60_000) - begun
    expect(await count('task begins')).toBeLessThanOrEqual(due)
    const { length } = await orders.database.query('select 1 from task_runs where task = \'work:run\'')
    expect(length).toBe(1)
  })

  it('commit one of 60 parallel requests with one key, in bulk too, and answer all of them equally', async () => {
    for (const [path, body] of [
      ['/orders', { name: 'one' }],
      ['/orders/bulk', { items: [{ name: 'one of two' }, { name: 'two of two' }] }],
    ] as const) {
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          request(on(index), 'POST', path, { body, headers: { 'idempotency-key': `key of ${path}` } }),
        ),
      )
      expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
      expect(answers[0]!.status).toBe(path === '/orders' ? 201 : 200)
    }
    expect(await orders.database.query('select 1 from orders')).toHaveLength(3)
    expect(await orders.database.query('select 1 from audit_log where resource = \'orders\'')).toHaveLength(3)
  })
})
