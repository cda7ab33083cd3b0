/** The API over HTTP without a Nuxt build: the real routes on a real h3 router, over whatever tables a test registers. */
import type { EventHandler } from 'h3'
import type { AutoApiConfig } from '../../src/runtime/shared/config.ts'
import { DEFAULT_CONFIG } from '../../src/runtime/shared/defaults.ts'
import type { DatabaseOptions } from '../../src/runtime/server/core/replicas/options.ts'
import type { EngineDefinition } from '../../src/runtime/server/engines/define.ts'
import type { EngineName } from '../../src/runtime/server/engines/index.ts'
import type { ListedPlugin } from '../../src/runtime/server/plugin/contract'
import type { ResourceRegistration } from '../../src/runtime/server/registration.ts'
import type { ListeningApi } from '../../src/runtime/testing/api/serve.ts'
import { createCheckingCache } from './statements.ts'

export interface Caller {
  user?: Record<string, unknown> | null
  permissions?: string[]
  tenantId?: string | number
}

export interface ServerOptions {
  registrations: ResourceRegistration[]
  modules?: Record<string, unknown>[]
  config?: Partial<AutoApiConfig>
  db: object
  engine?: EngineName | EngineDefinition
  databaseOptions?: DatabaseOptions
  /** What the list of plugins holds; a function makes them. */
  plugins?: readonly unknown[]
  /** The parts of plugins that are to have run at build time, as `plugin.part`. */
  built?: readonly string[]
  /** Routes that the app is to answer itself, as `METHOD /pattern`. */
  taken?: readonly string[]
  /** The app's `runtimeConfig.autoApi.secret`. */
  secret?: string
  /** The app's `runtimeConfig.autoApi.previousSecret`. */
  previousSecret?: string
  /** Whether the API is to be part of a server. */
  server?: boolean
  /** The app's own handlers by `METHOD /path`, loaded once the API stands. */
  endpoints?: () => Promise<Record<string, EventHandler>>
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever an answer holds
export interface Answered { status: number, headers: Headers, body: any, text: string }

export type ListeningServer = ListeningApi

export interface TestServer {
  request: (
    method: string,
    path: string,
    options?: { body?: unknown, raw?: string | Uint8Array, headers?: Record<string, string>, caller?: Caller },
  ) => Promise<Answered>
  /** Handles a request as a web server does, and returns its response unread. */
  fetch: (request: Request, caller?: Caller) => Promise<Response>
  /** Listens on a free port of Node's HTTP server. */
  listen: (caller?: Caller) => Promise<ListeningServer>
  /** Ends what plugins do outside of requests, such as timers that would use the database after it is closed. */
  stop: () => Promise<void>
}

/** The whole body. Of a stream of events only the first one, because the stream stays open. */
async function readText(response: Response): Promise<string> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

/**
 * Its API is a value: several servers of one test share the modules and nothing else. The last one is the default API, for registrars and
 * tasks.
 */
export async function createServer({
  registrations,
  modules = [],
  config = {},
  db,
  engine = 'better-sqlite3',
  databaseOptions,
  server = true,
  secret,
  previousSecret,
  endpoints,
  plugins = [],
  built = [],
  taken = [],
}: ServerOptions): Promise<TestServer> {
  // Imported here: a test that has reset the modules, to mock some of them, gets a server of the mocked ones.
  const { serveApi } = await import('../../src/runtime/testing/api/serve.ts')
  const { api, fetch, listen } = await serveApi({
    registrations,
    modules,
    config: { ...DEFAULT_CONFIG, ...config },
    plugins: plugins.map((plugin, index): ListedPlugin => ({ where: `plugins[${index}]`, listed: () => plugin })),
    builtPlugins: built,
    appRoutes: taken,
    useRuntimeConfig: () => ({ autoApi: { secret: secret ?? '', previousSecret: previousSecret ?? '' } }),
    statements: createCheckingCache(),
    db,
    engine,
    ...(databaseOptions && { databaseOptions }),
    server,
    ...(endpoints && { endpoints }),
  })
  // Plugins that only wait for a promise are set up then.
  await new Promise(resolve => setImmediate(resolve))
  return {
    fetch,
    listen,
    async stop() {
      for (const { begin } of api.listeners.onStop) await begin?.()
      for (const { end } of api.listeners.onStop) await end?.()
    },
    async request(method, path, { body, raw, headers = {}, caller } = {}) {
      const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
      const response = await fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { ...(payload === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
          ...(payload !== undefined && { body: payload as BodyInit }),
        }),
        caller,
      )
      const text = await readText(response)
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: text === '' ? undefined : response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
      }
    },
  }
}
