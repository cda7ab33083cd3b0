/** The API over HTTP without a Nuxt build: the real routes on a real h3 router, over whatever tables a test registers. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp, createRouter, defineEventHandler, send, setResponseStatus, toNodeListener, toWebHandler, type EventHandler, type H3Error, type H3Event } from 'h3'
import type { AutoApiConfig } from '../../src/runtime/shared/config.ts'
import { DEFAULT_CONFIG } from '../../src/runtime/shared/defaults.ts'
import { PATHS } from '../../src/runtime/shared/routes.ts'
import type { EngineDefinition } from '../../src/runtime/server/engines/define.ts'
import type { EngineName } from '../../src/runtime/server/engines/index.ts'
import type { ListedPlugin } from '../../src/runtime/server/plugin/contract'
import type { ResourceRegistration } from '../../src/runtime/server/registration.ts'
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
  /** What the list of plugins holds; a function makes them. */
  plugins?: readonly unknown[]
  /** The parts of plugins that are to have run at build time, as `plugin.part`. */
  built?: readonly string[]
  /** Routes that the app is to answer itself, as `METHOD /shape`. */
  taken?: readonly string[]
  /** The app's `runtimeConfig.autoApi.secret`. */
  secret?: string
  /** Whether the API is to be part of a server. */
  server?: boolean
  /** The app's own handlers by `METHOD /path`, loaded once the API stands. */
  endpoints?: () => Promise<Record<string, EventHandler>>
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever an answer holds
export interface Answered { status: number, headers: Headers, body: any, text: string }

export interface TestServer {
  request: (method: string, path: string, options?: { body?: unknown, raw?: string | Uint8Array, headers?: Record<string, string>, caller?: Caller }) => Promise<Answered>
  /** Handles a request as a web server does, and returns its response unread. */
  fetch: (request: Request, caller?: Caller) => Promise<Response>
  /** Listens on a free port of Node's HTTP server. */
  listen: (caller?: Caller) => Promise<ListeningServer>
}

export interface ListeningServer {
  readonly url: string
  readonly port: number
  close: () => Promise<void>
}

/** Its API is a value: several servers of one test share the modules and nothing else. The last one is the default API, for registrars and tasks. */
export async function createServer({ registrations, modules = [], config = {}, db, engine = 'better-sqlite3', server = true, secret, endpoints, plugins = [], built = [], taken = [] }: ServerOptions): Promise<TestServer> {
  // Imported here: a test that has reset the modules, to mock some of them, gets a server of the mocked ones.
  const { createApi } = await import('../../src/runtime/server/api/create.ts')
  const { createRuntime, mountRuntime, setDefaultRuntime } = await import('../../src/runtime/server/api/runtime.ts')
  const resolved = { ...DEFAULT_CONFIG, ...config }
  const runtime = createRuntime(options => createApi({
    registrations,
    modules,
    config: resolved,
    plugins: plugins.map((plugin, index): ListedPlugin => ({ where: `plugins[${index}]`, listed: () => plugin })),
    builtPlugins: built,
    appRoutes: taken,
    useRuntimeConfig: () => ({ autoApi: { secret: secret ?? '' } }),
    statements: createCheckingCache(),
    ...options,
  }), () => server)
  setDefaultRuntime(runtime)
  runtime.database.initialize(db, engine)
  runtime.api()
  const app = createApp({ debug: false, onError: tellError })
  let caller: Caller = {}
  app.use(defineEventHandler((event) => {
    mountRuntime(event, runtime)
    Object.assign(event.context, caller)
  }))
  if (endpoints) app.use(mountEndpoints(await endpoints()))
  const { default: answerPlugins } = await import('../../src/runtime/server/routes/plugins.ts')
  app.use(answerPlugins)
  app.use(await mount(registrations.map(({ name }) => name), resolved.prefix))
  const handle = toWebHandler(app)
  return {
    fetch: (request, asked = {}) => {
      caller = asked
      return handle(request)
    },
    async listen(asked = {}) {
      caller = asked
      const listener = createHttpServer(toNodeListener(app))
      await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
      const { port } = listener.address() as AddressInfo
      return { port, url: `http://127.0.0.1:${port}`, close: () => new Promise<void>((resolve) => {
        listener.close(() => resolve())
        listener.closeAllConnections()
      }) }
    },
    async request(method, path, { body, raw, headers = {}, caller: asked = {} } = {}) {
      caller = asked
      const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
      const response = await handle(new Request(`http://localhost${path}`, {
        method,
        headers: { ...payload === undefined ? {} : { 'content-type': 'application/json' }, ...headers },
        ...payload !== undefined && { body: payload as BodyInit },
      }))
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text }
    },
  }
}

/** As Nitro does, the message included. */
function tellError({ statusCode, statusMessage, message, data }: H3Error, event: H3Event): Promise<void> {
  setResponseStatus(event, statusCode, statusMessage)
  return send(event, JSON.stringify({ error: true, statusCode, statusMessage, message, data }), 'application/json')
}

function mountEndpoints(endpoints: Record<string, EventHandler>) {
  const router = createRouter()
  for (const [address, handler] of Object.entries(endpoints)) {
    const [method, path] = address.split(' ') as [string, string]
    router.use(path, handler, method.toLowerCase() as 'get')
  }
  return router
}

async function mount(resources: string[], prefix: string) {
  const router = createRouter({ preemptive: true })
  for (const [path, file] of Object.entries(PATHS)) {
    const { default: handler } = await import(`../../src/runtime/server/routes/${file}.ts`) as { default: EventHandler }
    const paths = path.startsWith('/:resource') ? resources.map(name => path.replace(':resource', name)) : [path]
    for (const path of paths) router.use(prefix + path, handler)
  }
  return router
}
