/** The services that some tests need, and whether they can be reached. Embedded databases need none. */
import { existsSync } from 'node:fs'
import { connect } from 'node:net'

/** What tests need. */
interface Needed {
  readonly name: string
  /** Whether only tests of the full tier need it. */
  readonly fullOnly?: boolean
}

/** A server that listens on a port. */
interface Listening extends Needed {
  readonly host: string
  readonly port: number
}

/** A program that tests start themselves. */
interface Program extends Needed {
  readonly path: string
}

export type Service = Listening | Program

export const REDIS = { name: 'redis', host: '127.0.0.1', port: 6379 } as const satisfies Listening

export const CHROMIUM = { name: 'chromium', path: '/usr/bin/chromium' } as const satisfies Program

/** Tests of a service that cannot be reached are skipped; the run then names the service. */
export const SERVICES: readonly Service[] = [
  { name: 'postgres', host: '127.0.0.1', port: 5432 },
  { name: 'postgres_replica', host: '127.0.0.1', port: 5433, fullOnly: true },
  { name: 'pgbouncer', host: '127.0.0.1', port: 6432, fullOnly: true },
  { name: 'mariadb', host: '127.0.0.1', port: 3306 },
  { name: 'mariadb_replica', host: '127.0.0.1', port: 3308, fullOnly: true },
  { name: 'galera', host: '127.0.0.1', port: 3311, fullOnly: true },
  REDIS,
  CHROMIUM,
]

/** The expected address or path of a service. */
export const addressOf = (service: Service): string => 'path' in service ? service.path : `${service.host}:${service.port}`

/** Whether a server listens, or a program exists, at the expected address. */
export function isReachable(service: Service): Promise<boolean> {
  if ('path' in service) return Promise.resolve(existsSync(service.path))
  const { host, port } = service
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 })
    const settle = (reachable: boolean) => {
      socket.destroy()
      resolve(reachable)
    }
    socket.once('connect', () => settle(true)).once('error', () => settle(false)).once('timeout', () => settle(false))
  })
}

/** The services that cannot be reached. */
export async function unreachable(services = SERVICES): Promise<Service[]> {
  const checked = await Promise.all(services.map(async service => ({ service, reachable: await isReachable(service) })))
  return checked.filter(({ reachable }) => !reachable).map(({ service }) => service)
}
