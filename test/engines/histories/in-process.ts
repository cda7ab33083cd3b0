/** Several instances of the API in this process, each with its own connections to one database. */
import type { Connected } from './connect'
import type { Answer, Send } from './client'
import type { World } from './databases'
import { serveCells, type ServeOptions } from './serve'

const CALLER = { user: { id: 1 } }

export interface Instances {
  readonly servers: readonly Send[]
  readonly close: () => Promise<void>
}

export async function openInstances(world: World, count: number, options: ServeOptions): Promise<Instances> {
  const connections: Connected[] = Array.from({ length: count }, world.connect)
  const servers: Send[] = []
  for (const connection of connections) {
    const { fetch } = await serveCells(connection, options)
    servers.push(async (method, path, body, headers = {}) => toAnswer(await fetch(new Request(`http://localhost/api/${path}`, {
      method,
      headers: { ...body !== undefined && { 'content-type': 'application/json' }, ...headers },
      ...body !== undefined && { body: JSON.stringify(body) },
    }), CALLER)))
  }
  return {
    servers,
    async close() {
      for (const { close } of connections) await close()
    },
  }
}

export const toAnswer = async (response: Response): Promise<Answer> =>
  ({ status: response.status, etag: response.headers.get('etag'), body: await response.json() })
