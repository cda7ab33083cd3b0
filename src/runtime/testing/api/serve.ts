/** Serves an API in this process: the routes of the server on a router of h3, without a Nuxt build. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createApp, createRouter, defineEventHandler, getRequestHeaders, send, setResponseStatus, toNodeListener, toWebHandler,
  type EventHandler, type H3Error, type H3Event,
} from 'h3'
import { createApi, type ApiOptions, type ServerApi } from '../../server/api/create'
import { createRuntime, mountRuntime, setDefaultRuntime } from '../../server/api/runtime'
import type { DatabaseOptions } from '../../server/core/replicas/options'
import type { EngineDefinition } from '../../server/engines/define'
import type { EngineName } from '../../server/engines/index'
import answerPlugins from '../../server/routes/plugins'
import { DEFAULT_CONFIG } from '../../shared/defaults'
import { HANDLERS } from './routes'

/** What a middleware of the app would set in the context of the event. */
export interface CallerContext {
  readonly user?: Readonly<Record<string, unknown>> | null
  readonly permissions?: readonly string[]
  readonly tenantId?: string | number
}

export interface ServeOptions extends Omit<ApiOptions, 'database' | 'extend' | 'endpoints'> {
  readonly db: object
  readonly engine: EngineName | EngineDefinition
  /** The read replicas of the database. */
  readonly databaseOptions?: DatabaseOptions
  /**
   * Whether the API is part of a server.
   * @default true
   */
  readonly server?: boolean
  /** The app's own handlers by `METHOD /path`. They are loaded after the API is created. */
  readonly endpoints?: () => Promise<Readonly<Record<string, unknown>>>
  /** The app's own middleware, in its order. */
  readonly middleware?: readonly unknown[]
}

export interface ServedApi {
  readonly api: ServerApi
  /** Handles a request as a web server does. */
  readonly fetch: (request: Request, caller?: CallerContext) => Promise<Response>
  /** Listens on a free port of Node's HTTP server. Every request has the same caller. */
  readonly listen: (caller?: CallerContext) => Promise<ListeningApi>
}

export interface ListeningApi {
  readonly url: string
  readonly port: number
  readonly listener: Server
  close: () => Promise<void>
}

interface SentAgain { readonly headers: Readonly<Record<string, string>> }

/** The caller of a request, which its test can change. */
const CALLER = Symbol('caller')

/** Several APIs share the modules and nothing else. The last one is the default API, for registrars and tasks. */
export async function serveApi(
  { db, engine, databaseOptions, server = true, endpoints, middleware = [], ...options }: ServeOptions,
): Promise<ServedApi> {
  let loaded: Promise<Readonly<Record<string, unknown>>> | undefined
  const loadEndpoints = () => loaded ??= endpoints?.() ?? Promise.resolve({})
  const mounted = async () => Object.entries(await loadEndpoints()).map(([address, handler]) => {
    const [method, path] = address.split(' ') as [string, string]
    return { method, path, handler }
  })
  const runtime = createRuntime(own => createApi({ ...options, endpoints: mounted, ...own }), () => server)
  setDefaultRuntime(runtime)
  runtime.database.initialize(db, engine, databaseOptions)
  const api = runtime.api()
  const app = createApp({ debug: false, onError: sendError })
  let listening: CallerContext = {}
  app.use(defineEventHandler((event) => {
    mountRuntime(event, runtime)
    Object.assign(event.context, listening)
    event.fetch = ((path: string, { headers }: SentAgain) => sendToItself(event, path, headers)) as unknown as H3Event['fetch']
  }))
  for (const handler of middleware) app.use(handler as EventHandler)
  if (endpoints) app.use(mountEndpoints(await loadEndpoints()))
  app.use(answerPlugins)
  app.use(mountRoutes([...api.resources.keys()], (options.config ?? DEFAULT_CONFIG).prefix))
  const handle = toWebHandler(app)
  /** As Nitro does. The middleware finds the same caller, as it is then. */
  const sendToItself = (event: H3Event, path: string, headers: Readonly<Record<string, string>>) => {
    const request = new Request(`http://localhost${path}`, { headers: { ...getRequestHeaders(event) as HeadersInit, ...headers } })
    return handle(request, { ...event.context[CALLER as never] as CallerContext | undefined })
  }
  return {
    api,
    fetch: (request, caller = {}) => handle(request, { ...caller, [CALLER]: caller }),
    async listen(caller = {}) {
      listening = caller
      const listener = createServer(toNodeListener(app))
      await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
      const { port } = listener.address() as AddressInfo
      return {
        port,
        listener,
        url: `http://127.0.0.1:${port}`,
        close: () => new Promise<void>((resolve) => {
          listener.close(() => resolve())
          listener.closeAllConnections()
        }),
      }
    },
  }
}

/** As Nitro does, with the message. */
function sendError({ statusCode, statusMessage, message, data }: H3Error, event: H3Event): Promise<void> {
  setResponseStatus(event, statusCode, statusMessage)
  return send(event, JSON.stringify({ error: true, statusCode, statusMessage, message, data }), 'application/json')
}

function mountEndpoints(endpoints: Readonly<Record<string, unknown>>) {
  const router = createRouter()
  for (const [address, handler] of Object.entries(endpoints)) {
    const [method, path] = address.split(' ') as [string, string]
    router.use(path, handler as EventHandler, method.toLowerCase() as 'get')
  }
  return router
}

function mountRoutes(resources: readonly string[], prefix: string) {
  const router = createRouter({ preemptive: true })
  for (const [path, handler] of Object.entries(HANDLERS)) {
    const paths = path.startsWith('/:resource') ? resources.map(name => path.replace(':resource', name)) : [path]
    for (const path of paths) router.use(prefix + path, handler)
  }
  return router
}
