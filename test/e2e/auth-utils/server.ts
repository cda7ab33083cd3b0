/** The notebook, built and running, and how people sign in to it: by a form's data, then by a cookie. */
import { buildFixture, startFixture, type Answer, type Ask } from '../built'

export interface Notebook {
  readonly ask: (path: string, options?: Ask) => Promise<Answer & { readonly cookie: string | undefined }>
  /** The cookie of a session that has just begun. */
  readonly signIn: (name: string) => Promise<string>
  readonly stop: () => Promise<void>
}

export async function startNotebook(): Promise<Notebook> {
  buildFixture('auth-utils')
  const server = await startFixture('auth-utils', '.output', { NUXT_SESSION_PASSWORD: crypto.randomUUID() })
  const ask: Notebook['ask'] = async (path, options) => {
    const answer = await server.ask(path, options)
    return { ...answer, cookie: answer.cookies.findLast(cookie => /^nuxt-session=./.test(cookie)) }
  }
  return {
    ask,
    async signIn(name) {
      const { status, cookie } = await ask('/api/login', { method: 'POST', body: { email: `${name}@example.com`, password: 'correct horse' } })
      if (status !== 200 || !cookie) throw new Error(`${name} could not sign in: ${status}`)
      return cookie
    },
    stop: server.stop,
  }
}
