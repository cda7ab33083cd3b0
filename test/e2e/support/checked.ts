/**
 * Compares the answers of a server with the OpenAPI documents of their callers. The documents are read when the server stops, so that
 * they change nothing that a test counts. A server without the plugin has no document, and its answers are not compared.
 */
import { createChecker, type Checker } from '../../support/open-api/check'
import type { RequestOptions, ServerResponse } from './request'

interface Received {
  readonly method: string
  readonly path: string
  readonly response: ServerResponse
}

export interface Checks {
  readonly add: (path: string, options: RequestOptions | undefined, response: ServerResponse) => void
  /** Returns what no document allows. */
  readonly findProblems: () => Promise<readonly string[]>
}

/** Where the built apps have the API. */
const PREFIXES = ['/api', '/shop/data/v1']

/** Headers that identify a caller, in the apps of the tests. */
const CREDENTIALS = ['x-caller', 'x-demo-user', 'cookie', 'authorization']

/** Answers of the app itself, below the prefix. */
const OF_APP = [
  /\/api\/demo\//, /\/_(?:rows|nuxt_icon)/, /\/titles\//, /\/tags(?:\?|$)/, /\/articles\/mine(?:\?|$)/,
  // The permissions of a resource are open to callers who cannot use it.
  /\/permissions(?:\?|$)/,
]

const METHODS = new Set(['GET', 'POST', 'PATCH', 'PUT', 'DELETE'])

export function createChecks(url: string): Checks {
  /** By the credentials, as JSON. */
  const received = new Map<string, Received[]>()
  const checkers = new Map<string, Checker>()

  async function findChecker(
    prefix: string,
    credentials: string,
  ): Promise<{ readonly checker: Checker, readonly base: string } | undefined> {
    const response = await fetch(`${url}${prefix}/_openapi.json`, { headers: JSON.parse(credentials) as Record<string, string> }).catch(
      () => undefined,
    )
    if (response?.status !== 200 || !response.headers.get('content-type')?.includes('json')) return undefined
    const text = await response.text()
    let checker = checkers.get(text)
    if (!checker) checkers.set(text, (checker = createChecker(JSON.parse(text))))
    const { servers } = JSON.parse(text) as { servers: { url: string }[] }
    return { checker, base: servers[0]!.url === '/' ? '' : servers[0]!.url }
  }

  return {
    add(path, options = {}, response) {
      const { method = 'GET', caller, as, cookie } = options
      const prefix = PREFIXES.find(prefix => path.startsWith(`${prefix}/`))
      if (prefix === undefined || !METHODS.has(method)) return
      const sent = new Map(
        Object.entries({
          ...options.headers,
          ...(caller && { 'x-caller': JSON.stringify(caller) }),
          ...(as !== undefined && { 'x-demo-user': String(as) }),
          ...(cookie !== undefined && { cookie }),
        }).map(([name, value]) => [name.toLowerCase(), value]),
      )
      const credentials = JSON.stringify(Object.fromEntries(CREDENTIALS.flatMap(name => sent.has(name) ? [[name, sent.get(name)]] : [])))
      const key = JSON.stringify([prefix, credentials])
      received.set(key, [...received.get(key) ?? [], { method, path, response }])
    },
    async findProblems() {
      const problems = new Set<string>()
      let count = 0
      for (const [key, all] of received) {
        const [prefix, credentials] = JSON.parse(key) as [string, string]
        const found = await findChecker(prefix, credentials)
        if (!found) continue
        for (const { method, path, response: { status, headers, body } } of all) {
          const contentType = headers.get('content-type') ?? undefined
          const answers = found.checker.check({ method, path: path.slice(found.base.length), status, contentType, body })
          if (answers) count++
          else if (status < 300 && !OF_APP.some(pattern => pattern.test(path)))
            problems.add(`${method} ${path}: ${status}, but the document of ${credentials} does not contain it`)
          for (const answer of answers ?? []) problems.add(`${method} ${path}: ${status} ${answer} (${credentials})`)
        }
      }
      if (count > 0) console.info(`OpenAPI: ${count} answers compared with ${checkers.size} documents`)
      return [...problems]
    },
  }
}
