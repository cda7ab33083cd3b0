/** The app whose users sign in with better-auth, on several servers over one Redis. */
import { createHash } from 'node:crypto'
import { Redis } from 'ioredis'
import { REDIS } from '../../support/services'
import { buildFixture } from '../support/build'
import { root } from '../../support/once'
import type { ServerResponse } from '../support/request'
import { startServer, type Server } from '../support/server'

export type Way = 'config' | 'file' | 'both'

export interface Member {
  /** Sent with every request. */
  cookie: string
  readonly request: (method: string, path: string, body?: object) => Promise<ServerResponse>
}

export interface Workshop {
  readonly servers: readonly Server[]
  readonly join: (name: string) => Promise<Member>
  /** Resets every count. */
  readonly forget: () => Promise<void>
  /** The keys of the counts. */
  readonly counted: () => Promise<string[]>
  readonly stop: () => Promise<void>
}

export async function startWorkshop(way: Way, count: number): Promise<Workshop> {
  // Part of the build: the same for each run, and another one for each copy of the repository.
  const base = `workshop-${createHash('sha256').update(root).digest('hex').slice(0, 8)}-${way}`
  const output = await buildFixture('better-auth', { variant: way, env: { LIMITS_BASE: base } })
  const servers = await Promise.all(
    Array.from({ length: count }, () => startServer(output, { env: { BETTER_AUTH_SECRET: crypto.randomUUID() } })),
  )
  const redis = new Redis(REDIS.port, REDIS.host)
  const counted = () => redis.keys(`${base}:*`)
  const forget = async () => {
    const keys = await counted()
    if (keys.length > 0) await redis.del(keys)
  }
  await forget()
  return {
    servers, forget, counted,
    join: name => join(servers[0]!, name),
    async stop() {
      await Promise.all(servers.map(server => server.stop()))
      await forget()
      redis.disconnect()
    },
  }
}

/** Signs up, and sends requests as a browser does from the app's own pages. */
async function join({ request, url }: Server, name: string): Promise<Member> {
  const member: Member = {
    cookie: '',
    async request(method, path, body) {
      const response = await request(path, { method, ...body && { body }, cookie: member.cookie, headers: { origin: url } })
      const session = response.cookies.find(cookie => cookie.startsWith('better-auth.session_token='))
      if (session !== undefined) member.cookie = session
      return response
    },
  }
  const { status, body } = await member.request('POST', '/api/auth/sign-up/email', {
    name,
    email: `${name.toLowerCase()}@example.com`,
    password: 'correct horse',
  })
  if (status !== 200 || member.cookie === '') throw new Error(`${name} could not sign up: ${status} ${JSON.stringify(body)}`)
  return member
}
