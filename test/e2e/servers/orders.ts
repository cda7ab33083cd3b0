/** Several built servers of the fixture `servers` on one database. */
import { randomUUID } from 'node:crypto'
import { REDIS } from '../../support/services'
import { buildFixture } from '../support/build'
import type { RequestOptions, ServerResponse } from '../support/request'
import { startServer, type Server } from '../support/server'
import { createDatabase, type Database, type Variant } from './database'

export interface Orders {
  readonly database: Database
  /** The servers that run, or have run. A test can replace one. */
  readonly servers: Server[]
  readonly start: (env?: Readonly<Record<string, string>>) => Promise<Server>
  readonly stop: () => Promise<void>
}

export interface OrdersOptions {
  readonly variant?: Variant
  readonly count: number
  readonly env?: Readonly<Record<string, string>>
  /** @default the database server of the tests */
  readonly databasePort?: number
}

export const SECRET = 'one secret of all servers, long enough'

export async function startOrders({ variant = 'postgres', count, env, databasePort }: OrdersOptions): Promise<Orders> {
  const output = await buildFixture('servers', { variant })
  const database = await createDatabase(variant, databasePort)
  const base: Record<string, string> = {
    ORDERS_URL: database.url,
    ORDERS_REDIS_URL: `redis://${REDIS.host}:${REDIS.port}`,
    ORDERS_REDIS_BASE: randomUUID(),
    NUXT_AUTO_API_SECRET: SECRET,
    // Nitro 3 does not stop servers of CI gracefully.
    CI: '',
  }
  const start = (own = {}) => startServer(output, { env: { ...base, ...env, ...own } })
  const servers = await Promise.all(Array.from({ length: count }, () => start()))
  return {
    database, servers, start,
    async stop() {
      await Promise.all(servers.map(server => server.stop()))
      await database.remove()
    },
  }
}

/** Who is signed in: a member of an organization. */
export const memberOf = (organizationId: number) => ({ user: { id: organizationId * 100, organizationId } })

export const request = (
  server: Pick<Server, 'request'>,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<ServerResponse> => server.request(`/api${path}`, { method, caller: memberOf(1), ...options })
