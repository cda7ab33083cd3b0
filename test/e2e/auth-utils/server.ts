/** The built app whose users sign in with nuxt-auth-utils: with a form, then by cookie. */
import { buildFixture } from '../support/build'
import type { RequestOptions, ServerResponse } from '../support/request'
import { startServer } from '../support/server'

export interface Notebook {
  readonly url: string
  readonly request: (path: string, options?: RequestOptions) => Promise<ServerResponse & { readonly cookie: string | undefined }>
  /** @returns the cookie of a new session. */
  readonly signIn: (name: string) => Promise<string>
  readonly stop: () => Promise<void>
}

export async function startNotebook(): Promise<Notebook> {
  const server = await startServer(await buildFixture('auth-utils'), { env: { NUXT_SESSION_PASSWORD: crypto.randomUUID() } })
  const request: Notebook['request'] = async (path, options) => {
    const response = await server.request(path, options)
    return { ...response, cookie: response.cookies.findLast(cookie => /^nuxt-session=./.test(cookie)) }
  }
  return {
    url: server.url,
    request,
    async signIn(name) {
      const { status, cookie } = await request('/api/login', {
        method: 'POST',
        body: { email: `${name}@example.com`, password: 'correct horse' },
      })
      if (status !== 200 || !cookie) throw new Error(`${name} could not sign in: ${status}`)
      return cookie
    },
    stop: server.stop,
  }
}
