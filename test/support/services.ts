/** What some tests need beside them, and how to see whether it is there. Everything embedded needs no row. */
import { existsSync } from 'node:fs'
import { connect } from 'node:net'

/** A server that listens somewhere. */
interface Listening {
  readonly name: string
  readonly host: string
  readonly port: number
}

/** A program that tests start themselves. */
interface Program {
  readonly name: string
  readonly path: string
}

export type Service = Listening | Program

export const REDIS = { name: 'redis', host: '127.0.0.1', port: 6379 } as const satisfies Listening

export const CHROMIUM = { name: 'chromium', path: '/usr/bin/chromium' } as const satisfies Program

/** Tests of a service that cannot be reached are skipped; the run then names the service. */
export const SERVICES: readonly Service[] = [
  { name: 'postgres', host: '127.0.0.1', port: 5432 },
  { name: 'mariadb', host: '127.0.0.1', port: 3306 },
  REDIS,
  CHROMIUM,
]

/** Where a service should be. */
export const placeOf = (service: Service): string => 'path' in service ? service.path : `${service.host}:${service.port}`

/** Whether there is something where the service should be. */
export function isReachable(service: Service): Promise<boolean> {
  if ('path' in service) return Promise.resolve(existsSync(service.path))
  const { host, port } = service
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 })
    const answer = (reachable: boolean) => {
      socket.destroy()
      resolve(reachable)
    }
    socket.once('connect', () => answer(true)).once('error', () => answer(false)).once('timeout', () => answer(false))
  })
}

/** The services that tests have to do without. */
export async function unreachable(services = SERVICES): Promise<Service[]> {
  const checked = await Promise.all(services.map(async service => ({ service, there: await isReachable(service) })))
  return checked.filter(({ there }) => !there).map(({ service }) => service)
}
