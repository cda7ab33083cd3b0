/** A server that is told to stop ends what it has begun, takes nothing new, and loses no work. */
import { once } from 'node:events'
import { request as open, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy } from '../support/proxy'
import { isReachable, REDIS, SERVICES } from '../support/services'
import { sendRequest } from './support/request'
import type { Server } from './support/server'
import { memberOf, request, startOrders, type Orders } from './servers/orders'

const needed = [REDIS, SERVICES.find(({ name }) => name === 'postgres')!]
const reachable = (await Promise.all(needed.map(isReachable))).every(Boolean)

/** As orchestrators do it. @returns the exit code and the milliseconds until the end. */
async function terminate(server: Server) {
  const start = performance.now()
  process.kill(server.pid, 'SIGTERM')
  const late = wait(20_000, 'still runs' as const, { ref: false })
  return { code: await Promise.race([server.ended, late]), milliseconds: performance.now() - start }
}

describe.skipIf(!reachable)('a server that gets SIGTERM', () => {
  let orders: Orders
  let server: Server

  beforeAll(async () => void (orders = await startOrders({ count: 0 })))
  afterAll(() => orders?.stop())

  const start = async () => {
    orders.servers.push(server = await orders.start())
  }
  const create = async (name: string) => (await request(server, 'POST', '/orders', { body: { name } })).body.id as number
  const finds = (sql: string) => expect.poll(async () => (await orders.database.query(sql)).length, { timeout: 1_000 }).toBe(1)

  it('ends at once without requests, although connections to the databases are open', async () => {
    await start()
    await create('before the end')
    const { code, milliseconds } = await terminate(server)
    expect(code).toBe(0)
    expect(milliseconds).toBeLessThan(3_000)
    await expect(request(server, 'GET', '/orders')).rejects.toThrow()
  })

  it('commits a write that waits for a lock, and answers it', async () => {
    await start()
    const id = await create('locked')
    const release = await orders.database.hold(`select 1 from orders where id = ${id} for update`)
    const answer = request(server, 'PATCH', `/orders/${id}`, { body: { name: 'unlocked' } })
    await wait(300)
    const end = terminate(server)
    await wait(1_000)
    await release()
    expect(await answer).toMatchObject({ status: 200, body: { name: 'unlocked' } })
    expect((await end).code).toBe(0)
    await finds(`select 1 from orders where id = ${id} and name = 'unlocked'`)
  })

  it('sends an export completely', async () => {
    await start()
    await orders.database.query(
      'insert into orders (organization_id, name) select 2, repeat(\'x\', 200) || n from generate_series(1, 20000) n',
    )
    const sent = open(`${server.url}/api/orders/export?format=ndjson`, { headers: { 'x-caller': JSON.stringify(memberOf(2)) } }).end()
    const [response] = await once(sent, 'response') as [IncomingMessage]
    const [first] = await once(response, 'data') as [Buffer]
    response.pause()
    const end = terminate(server)
    await wait(1_000)
    let lines = countLines(first)
    for await (const chunk of response) lines += countLines(chunk as Buffer)
    expect(lines).toBe(20_000)
    expect((await end).code).toBe(0)
  })

  it('reads an upload completely', async () => {
    await start()
    const sent = open(`${server.url}/api/orders/import`, {
      method: 'POST', headers: { 'content-type': 'application/x-ndjson', 'x-caller': JSON.stringify(memberOf(1)) },
    })
    const answer = once(sent, 'response') as Promise<[IncomingMessage]>
    const uploaded = (async () => {
      for (let index = 0; index < 50; index++) {
        sent.write(`{"name":"uploaded ${index}"}\n`)
        await wait(30)
      }
      sent.end()
    })()
    await wait(300)
    const end = terminate(server)
    await uploaded
    const [response] = await answer
    expect(response.resume().statusCode).toBe(200)
    expect((await end).code).toBe(0)
    expect(await orders.database.query('select 1 from orders where name like \'uploaded %\'')).toHaveLength(50)
  })

  it('ends what plugins do after the commit of a request whose client has left', async () => {
    await start()
    const leaving = new AbortController()
    const answer = fetch(`${server.url}/api/orders`, {
      method: 'POST', body: '{"name":"left"}', signal: leaving.signal,
      headers: { 'content-type': 'application/json', 'x-caller': JSON.stringify(memberOf(1)), 'x-slow': 'after the client' },
    })
    await expect.poll(async () => await orders.database.query('select 1 from orders where name = \'left\'')).toHaveLength(1)
    leaving.abort()
    await expect(answer).rejects.toThrow()
    expect((await terminate(server)).code).toBe(0)
    await finds('select 1 from work where name = \'after the client\'')
  })

  it('stores when a token was last used, although it has answered the request', async () => {
    await start()
    const { body: { id, token } } = await request(server, 'POST', '/apiTokens', { body: { name: 'script' } })
    const release = await orders.database.hold(`select 1 from api_tokens where id = '${id}' for update`)
    expect((await sendRequest(`${server.url}/api/orders`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    const end = terminate(server)
    await wait(1_500)
    await release()
    expect((await end).code).toBe(0)
    await finds(`select 1 from api_tokens where id = '${id}' and last_used_at is not null`)
  })

  it('ends the task that it runs', async () => {
    await start()
    await server.request('/run-task?now', { method: 'POST' })
    const count = async (name: string) => (await orders.database.query(`select 1 from work where name = '${name}'`)).length
    // The timer of another server of this file may have run the task too.
    const ended = await count('task ends')
    await expect.poll(() => count('task begins')).toBeGreaterThan(ended)
    expect((await terminate(server)).code).toBe(0)
    expect(await count('task ends')).toBe(await count('task begins'))
  })

  it('ends after its time limit, and says what has not ended', async () => {
    orders.servers.push(server = await orders.start({ NITRO_SHUTDOWN_TIMEOUT: '1000', SERVER_SHUTDOWN_TIMEOUT: '1' }))
    const id = await create('held for long')
    const release = await orders.database.hold(`select 1 from orders where id = ${id} for update`)
    const answer = request(server, 'PATCH', `/orders/${id}`, { body: { name: 'too late' } }).catch(() => undefined)
    await wait(300)
    const { milliseconds } = await terminate(server)
    expect(milliseconds).toBeLessThan(4_000)
    expect(server.printed()).toContain(
      '[auto-api] The server stops before all requests and tasks have ended. Raise `NITRO_SHUTDOWN_TIMEOUT`.',
    )
    await release()
    await answer
  })
})

const countLines = (chunk: Buffer) => chunk.reduce((count, byte) => byte === 10 ? count + 1 : count, 0)

describe.skipIf(!reachable)('two servers behind a proxy', () => {
  let orders: Orders
  beforeAll(async () => void (orders = await startOrders({ count: 2 })))
  afterAll(() => orders?.stop())

  it('answer every request while each of them is replaced, one after the other', async () => {
    const { servers, database } = orders
    const proxy = await startProxy(servers.map(({ url }) => url), { health: '/health', interval: 500, timeout: 5_000 })
    const failures: unknown[] = []
    let created = 0
    let ends = false
    const send = async (method: string, path: string, body?: object) => {
      const answer = await sendRequest(`${proxy.url}/api${path}`, { method, body, caller: memberOf(1), headers: { connection: 'close' } })
        .catch((error: unknown) => ({ status: 0, body: error }))
      if (answer.status >= 300 || answer.status === 0) failures.push([method, path, answer.status, answer.body])
      return answer.body
    }
    const clients = Array.from({ length: 6 }, async (_, client) => {
      for (let turn = 0; !ends; turn++) {
        const { id } = await send('POST', '/orders', { name: `${client} ${turn}` })
        created++
        await send('GET', `/orders/${id}`)
        await send('PATCH', `/orders/${id}`, { version: 1 })
        await send('GET', '/orders?limit=5&sort=-id')
      }
    })
    try {
      for (const index of [0, 1]) {
        await wait(1_000)
        const old = servers[index]!
        proxy.remove(old.url)
        // Connections that the proxy has just opened bring their requests first. Orchestrators have a setting for it.
        await wait(500)
        expect((await terminate(old)).code).toBe(0)
        servers[index] = await orders.start()
        proxy.add(servers[index]!.url)
      }
      await wait(1_000)
    }
    finally {
      ends = true
      await Promise.all(clients)
      proxy.close()
    }
    expect(failures).toEqual([])
    expect(created).toBeGreaterThan(50)
    expect(await database.query('select 1 from orders where version = 1')).toHaveLength(created)
    console.info(`${4 * created} requests while two servers were replaced, all answered`)
  })
})
