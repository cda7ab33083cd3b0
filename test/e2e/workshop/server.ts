/** The workshop, built with its plugins listed one way or another, on as many servers as a test wants, over one Redis. */
import { Redis } from 'ioredis'
import { REDIS } from '../../support/services'
import { buildFixture, startFixture, type Answer, type Server } from '../built'

export type Way = 'config' | 'file' | 'both'

export interface Member {
  /** Sent along with every request. */
  cookie: string
  readonly ask: (method: string, path: string, body?: object) => Promise<Answer>
}

export interface Workshop {
  readonly servers: readonly Server[]
  readonly join: (name: string) => Promise<Member>
  /** Forgets who has asked how often. */
  readonly forget: () => Promise<void>
  /** Under which keys requests were counted. */
  readonly counted: () => Promise<string[]>
  readonly stop: () => Promise<void>
}

export async function startWorkshop(way: Way, count: number): Promise<Workshop> {
  const base = `workshop-${crypto.randomUUID()}`
  buildFixture('better-auth', { WORKSHOP_PLUGINS: way, WORKSHOP_BASE: base })
  const servers = await Promise.all(Array.from({ length: count }, () => startFixture('better-auth', `.output/${way}`, { BETTER_AUTH_SECRET: crypto.randomUUID() })))
  const redis = new Redis(REDIS.port, REDIS.host)
  const counted = () => redis.keys(`${base}:*`)
  const forget = async () => {
    const keys = await counted()
    if (keys.length > 0) await redis.del(keys)
  }
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

/** Signs up; from then on asks as a browser would, from the app's own pages. */
async function join({ ask, url }: Server, name: string): Promise<Member> {
  const member: Member = {
    cookie: '',
    async ask(method, path, body) {
      const answer = await ask(path, { method, ...body && { body }, cookie: member.cookie, headers: { origin: url } })
      const session = answer.cookies.find(cookie => cookie.startsWith('better-auth.session_token='))
      if (session !== undefined) member.cookie = session
      return answer
    },
  }
  const { status, body } = await member.ask('POST', '/api/auth/sign-up/email', { name, email: `${name.toLowerCase()}@example.com`, password: 'correct horse' })
  if (status !== 200 || member.cookie === '') throw new Error(`${name} could not sign up: ${status} ${JSON.stringify(body)}`)
  return member
}
