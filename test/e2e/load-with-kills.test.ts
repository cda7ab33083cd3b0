/**
 * Three built servers under load, while parts of the deployment are killed and started again: no acknowledged write is lost, none is half.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { startProxy, type Proxy } from '../support/proxy'
import { isReachable, SERVICES } from '../support/services'
import { startClient, type Client, type Failure } from './servers/clients'
import { appServer, nodePort, startCluster, startRedis, startReplica, type Part } from './servers/parts'
import { request, startOrders, type Orders } from './servers/orders'
import { isFull, isRelease } from '../support/tiers'

/** Milliseconds of load before each kill, and before each new start. */
const PAUSE = isFull ? 3_000 : 1_500
/** Milliseconds in which the proxy notices that a server is out. */
const NOTICED = 2_000
const ORGANIZATIONS = [1, 2, 3, 4]

const reachable = async (...names: string[]) =>
  (await Promise.all(SERVICES.filter(({ name }) => names.includes(name)).map(isReachable))).every(Boolean)

interface Kill {
  readonly name: string
  readonly at: number
  /** When requests can fail, from and to. */
  readonly windows: [from: number, to: number][]
}

interface Deployment {
  readonly orders: Orders
  readonly proxy: Proxy
  readonly parts: readonly Part[]
}

/** Each service, and what it starts. */
const DEPLOYMENTS = {
  async postgres(end: (() => unknown)[]): Promise<Deployment> {
    const redis = await startRedis()
    end.push(redis.end)
    const replica = await startReplica()
    end.push(replica.end)
    const orders = await startOrders({ count: 0, env: { ORDERS_REDIS_URL: redis.url } })
    end.push(orders.stop)
    const env = { ORDERS_REPLICA_URL: `postgres://postgres@127.0.0.1:${replica.port}/${orders.database.name}` }
    const proxy = await startBehindProxy(orders, end, () => env)
    return {
      orders,
      proxy,
      parts: [appServer(0, orders, proxy, env), replica, redis, appServer(1, orders, proxy, env), appServer(2, orders, proxy, env)],
    }
  },
  async galera(end: (() => unknown)[]): Promise<Deployment> {
    const nodes = await startCluster()
    for (const node of nodes) end.push(node.end)
    const redis = await startRedis()
    end.push(redis.end)
    const orders = await startOrders({ variant: 'mysql', count: 0, env: { ORDERS_REDIS_URL: redis.url }, databasePort: nodePort(1) })
    end.push(orders.stop)
    // Each app server uses a node of its own.
    const envOf = (index: number) => ({ ORDERS_URL: orders.database.url.replace(String(nodePort(1)), String(nodePort(index + 1))) })
    const proxy = await startBehindProxy(orders, end, envOf)
    return { orders, proxy, parts: [nodes[0]!, appServer(0, orders, proxy, envOf(0)), nodes[1]!, redis] }
  },
}

async function startBehindProxy(orders: Orders, end: (() => unknown)[], envOf: (index: number) => Record<string, string>): Promise<Proxy> {
  for (let index = 0; index < 3; index++) orders.servers.push(await orders.start(envOf(index)))
  // A cluster answers nothing for three seconds after it has lost a node. A server without its node says so at once.
  const proxy = await startProxy(orders.servers.map(({ url }) => url), { health: '/health', interval: 500, timeout: 6_000 })
  end.push(proxy.close)
  return proxy
}

describe.each([
  { name: 'postgres', services: ['postgres'], rounds: isRelease ? 10 : 3 },
  { name: 'galera', services: ['galera'], rounds: isRelease ? 10 : 2 },
] as const)('a deployment on $name under load', async ({ name, services, rounds }) => {
  const end: (() => unknown)[] = []
  afterAll(async () => {
    const problems: unknown[] = []
    for (const step of end.splice(0).reverse()) {
      try {
        await step()
      }
      catch (error) {
        problems.push(error)
      }
    }
    expect(problems).toEqual([])
  }, 60_000)

  it.skipIf(!await reachable(...services))(`loses no acknowledged write while a part is killed ${rounds} times`, async () => {
    const { orders, proxy, parts } = await DEPLOYMENTS[name](end)
    const tokens = await Promise.all(
      ORGANIZATIONS.map(
        async organization =>
          (
            await request(orders.servers[0]!, 'POST', '/apiTokens', {
              caller: { user: { id: organization * 100, organizationId: organization } },
              body: { name: 'load' },
            })
          ).body.token as string,
      ),
    )
    const clients = ORGANIZATIONS.flatMap((organization, index) => [
      startClient(proxy.url, organization),
      startClient(proxy.url, organization, tokens[index]),
    ])
    const kills: Kill[] = []
    try {
      for (let round = 0; round < rounds; round++) {
        const part = parts[round % parts.length]!
        await wait(PAUSE * (0.5 + Math.random()))
        const at = performance.now()
        const kill: Kill = { name: part.name, at, windows: part.failing === 'never' ? [] : [[at, at + NOTICED]] }
        kills.push(kill)
        await part.kill()
        await wait(PAUSE * (0.5 + Math.random()))
        const restart = performance.now()
        await part.restart()
        if (part.failing === 'kill and start') kill.windows.push([restart, performance.now() + NOTICED])
        await expect.poll(() => proxy.used().length, { timeout: 30_000 }).toBe(3)
      }
      await wait(PAUSE)
    }
    finally {
      await Promise.all(clients.map(client => client.stop()))
    }
    report(name, clients, kills)
    const failures = clients.flatMap(({ failures }) => failures).filter(failure => !kills.some(kill => explains(kill, failure)))
    if (failures.length > 0) console.info(orders.servers.map(({ url, printed }) => `${url}\n${printed().slice(-3_000)}`).join('\n'))
    expect({ wrong: clients.flatMap(({ wrong }) => wrong), failures }).toEqual({ wrong: [], failures: [] })
    expect(clients.every(client => client.orders.length > 5)).toBe(true)
    await assertComplete(orders, clients)
  }, 600_000)
})

/** A request can fail if it ran at the time of the kill, or began before the proxy has noticed. */
const explains = ({ windows }: Kill, { start, end }: Failure) => windows.some(([from, to]) => start < to && end > from)

function report(name: string, clients: readonly Client[], kills: readonly Kill[]): void {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  const failures = clients.flatMap(({ failures }) => failures)
  // Requests that ran at the time of a kill count as 0.
  const latest = Math.max(
    0,
    ...failures.map(({ start, end }) => Math.min(...kills.filter(({ at }) => at < end).map(({ at }) => start - at))),
  )
  const counts = kills.map(({ name, at }, index) => {
    const next = kills[index + 1]?.at ?? Infinity
    return `${name}: ${failures.filter(({ end }) => end >= at && end < next).length}`
  })
  console.info(
    `${name}: ${sum(clients.map(({ requests }) => requests))} requests, ${sum(clients.map(({ orders }) => orders.length))} orders, ${failures.length} failed requests, `
    + `the last one began ${Math.round(latest)} ms after its kill. By kill: ${counts.join(', ')}. `
    + `Unanswered changes: ${sum(clients.map(({ orders }) => orders.filter(({ uncertain }) => uncertain).length))}`,
  )
}

/** Compares the database with what the clients know. */
async function assertComplete({ database, servers }: Orders, clients: readonly Client[]): Promise<void> {
  const rows = await database.query<{ id: number, name: string, version: number, organization_id: number, deleted_at: unknown }>(
    'select * from orders',
  )
  const byName = Map.groupBy(rows, ({ name }) => name)
  const lines = await database.query<{ name: string }>('select name from order_lines')
  const lineNames = new Set(lines.map(({ name }) => name))
  expect(lines.length).toBe(lineNames.size)
  const differences = clients.flatMap(({ orders, batches, organization }) => [
    ...orders.flatMap((order) => {
      const found = byName.get(order.name) ?? []
      if (found.length !== 1) return [`${order.name} is there ${found.length} times`]
      const { version, deleted_at, organization_id } = found[0]!
      const isIn = (state: { version: number, deleted: boolean }) => state.version === version && state.deleted === (deleted_at !== null)
      if (organization_id !== organization) return [`${order.name} belongs to ${organization_id}`]
      return isIn(order) || (order.uncertain && isIn(order.uncertain)) ? [] : [`${order.name}: ${JSON.stringify([order, found[0]])}`]
    }),
    ...batches.flatMap(names => names.filter(name => !lineNames.has(name)).map(name => `no line ${name}`)),
  ])
  expect(differences).toEqual([])
  // No half of a request: a bulk create, a cascade, a change with its entry in the audit log.
  expect(await database.query('select order_id from order_lines group by order_id having count(*) <> 3')).toEqual([])
  expect(await database.query(`select l.id from order_lines l join orders o on o.id = l.order_id
    where (o.deleted_at is null) <> (l.deleted_at is null) or o.deletion_id <> l.deletion_id`)).toEqual([])
  const count = async (sql: string) => Number((await database.query<{ n: string | null }>(sql))[0]!.n)
  const entries = (resource: string, kind: string) =>
    count(`select count(*) as n from audit_log where resource = '${resource}' and kind = '${kind}'`)
  expect({
    created: await entries('orders', 'create'), lines: await entries('lines', 'create'),
    updated: await entries('orders', 'update'), deleted: await entries('orders', 'delete'), cascaded: await entries('lines', 'delete'),
  }).toEqual({
    created: rows.length, lines: lines.length, updated: await count('select sum(version) as n from orders'),
    deleted: await count('select count(*) as n from orders where deleted_at is not null'),
    cascaded: await count('select count(*) as n from order_lines where deleted_at is not null'),
  })
  // All servers agree.
  for (const { organization, orders } of clients) {
    const { id } = orders.at(-1)!
    const answers = await Promise.all(
      servers.map(server =>
        request(server, 'GET', `/orders/${id}`, { caller: { user: { id: organization * 100, organizationId: organization } } }),
      ),
    )
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body.name, body.version]))).size).toBe(1)
  }
}
