/** Creates the API of a test: in this process, or as a client of a server that runs already. */
import type { EngineDefinition } from '../../server/engines/define'
import type { EngineName } from '../../server/engines/index'
import type { ListedPlugin } from '../../server/plugin/contract'
import { uniqueKeysOf } from '../../server/schema/indexes'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../shared/defaults'
import type { AutoApiConfig, MultiTenancyConfig } from '../../shared/config'
import { createClient, type Send, type TestCaller, type TestClient } from './client'
import { rememberServer } from './local'
import { toRegistrations, type TestResourceSource } from './resources'
import { serveApi, type ServedApi } from './serve'

export type TestCallers = Readonly<Record<string, TestCaller>>

interface CommonOptions<Callers extends TestCallers> {
  /** The callers by name. `anonymous` exists without an entry. */
  readonly callers?: Callers
  /** Restores the rows. It runs after a request that has no dry run. */
  readonly reset?: () => unknown
}

/** An API in this process. */
export interface LocalTestApi<Callers extends TestCallers = TestCallers> extends CommonOptions<Callers> {
  /**
   * The resources by name: values of `defineResource`, or functions that import their files. The keys can be paths of files, as in the
   * result of `import.meta.glob('../server/resources/*.ts')`.
   */
  readonly resources: Readonly<Record<string, TestResourceSource>>
  /** The Drizzle database. */
  readonly database: object
  /** The engine of the database, as in `initializeDatabase`. */
  readonly engine: EngineName | EngineDefinition
  /**
   * All exports of the schema. The API finds tables there that are not registered, such as junction tables.
   * @default {}
   */
  readonly schema?: Readonly<Record<string, unknown>>
  /**
   * Results of plugin factories. Their parts that run while the app is built do not run: list the resources that they register.
   * @default []
   */
  readonly plugins?: readonly unknown[]
  /** The option of the module. An object turns multi-tenancy on. */
  readonly multiTenancy?: Partial<MultiTenancyConfig> | false
  /** The other options of the module, in the form of `autoApi` in `nuxt.config`. */
  readonly config?: { readonly [K in keyof AutoApiConfig]?: AutoApiConfig[K] extends object ? Partial<AutoApiConfig[K]> : AutoApiConfig[K] }
  /**
   * Event handlers that run before every request, such as the middleware that finds the user.
   * @default []
   */
  readonly middleware?: readonly unknown[]
  /**
   * The app's own endpoints by method and path: `{ 'POST /api/posts/:id/publish': handler }`. The function runs after the API is created.
   * @default none
   */
  readonly endpoints?: () => Promise<Readonly<Record<string, unknown>>>
}

/** An API that a server serves already. */
export interface RemoteTestApi<Callers extends TestCallers = TestCallers> extends CommonOptions<Callers> {
  /** The address of the server: `http://localhost:3000`. */
  readonly url: string
  /**
   * The prefix of the API.
   * @default '/api'
   */
  readonly prefix?: string
}

/** A route beside the generated ones. */
export interface TestRoute {
  readonly method: string
  /** The path below the prefix, with parameters: `/posts/:id/history`. */
  readonly path: string
  /** The resource, if the path begins with one. */
  readonly resource?: string
  /** Whether it belongs to a plugin. Such a route refuses a dry run that it does not support. */
  readonly plugin: boolean
}

export interface TestApi<Name extends string = string> {
  /** The names of the callers, in the order of `callers`. `anonymous` comes first if `callers` does not list it. */
  readonly callers: readonly Name[]
  /**
   * Returns the requests of a caller.
   * @throws When there is no caller with this name.
   */
  as(caller: Name): TestClient
  /** The names of all registered resources. It is absent over HTTP, where the description of the API has the names. */
  readonly registered?: readonly string[]
  /** The fields of the unique constraints of each resource. It is absent over HTTP. */
  readonly uniqueKeys?: Readonly<Record<string, readonly (readonly string[])[]>>
  /** The routes of plugins and the endpoints. Empty over HTTP. */
  readonly routes: readonly TestRoute[]
  readonly reset?: () => unknown
}

/**
 * Creates the API of a test.
 *
 * In this process, requests run through the same pipeline as in the built server: no Nuxt build, no port. With `url`, they go to a server
 * that runs already.
 * @throws When a resource cannot be registered, like the server at startup.
 * @example
 * const api = await createTestApi({
 *   resources: { posts },
 *   database: drizzle({ client: new Database(':memory:') }),
 *   engine: 'better-sqlite3',
 *   callers: { ann: { user: { id: 1 }, permissions: ['posts:write'] } },
 * })
 * const { status, body, code } = await api.as('ann').get('/posts')
 */
export async function createTestApi<const Callers extends TestCallers>(
  options: LocalTestApi<Callers> | RemoteTestApi<Callers>,
): Promise<TestApi<(keyof Callers & string) | 'anonymous'>> {
  const callers: TestCallers = { ...!Object.hasOwn(options.callers ?? {}, 'anonymous') && { anonymous: {} }, ...options.callers }
  const { reset } = options
  const common = { callers: Object.keys(callers) as ((keyof Callers & string) | 'anonymous')[], ...reset && { reset } }
  const clientOf = (name: string, sendAs: (caller: TestCaller) => Send, prefix: string) => {
    const caller = Object.hasOwn(callers, name) ? callers[name] : undefined
    if (caller) return createClient(sendAs(caller), prefix, caller)
    throw new Error(`[auto-api] There is no caller \`${name}\`. The callers are: ${Object.keys(callers).join(', ')}.`)
  }
  if ('url' in options) {
    const base = options.url.replace(/\/$/, '')
    const send: Send = ({ path, init }) => fetch(base + path, init)
    return { ...common, routes: [], as: name => clientOf(name, () => send, options.prefix ?? '/api') }
  }
  let loaded: ReturnType<NonNullable<LocalTestApi['endpoints']>> | undefined
  const endpoints = async () => await (loaded ??= options.endpoints?.()) ?? {}
  const { api, fetch: serve } = await serveLocally({ ...options, endpoints })
  await api.whenReady()
  const sendAs = ({ headers: _, context, ...caller }: TestCaller): Send => ({ path, init }) =>
    serve(new Request(`http://localhost${path}`, init), { ...context, ...caller })
  const { prefix } = api.config
  const testApi = {
    ...common,
    registered: [...api.resources.keys()],
    uniqueKeys: Object.fromEntries([...api.resources].map(([name, resource]) =>
      [name, uniqueKeysOf(resource).map(({ columns }) => columns)])),
    routes: findRoutes(api, Object.keys(await endpoints())),
    as: (name: string) => clientOf(name, sendAs, prefix),
  }
  rememberServer(testApi, api)
  return testApi
}

async function serveLocally({
  resources, database, engine, schema = {}, plugins = [], multiTenancy = false, config = {}, middleware = [], endpoints,
}: LocalTestApi & Required<Pick<LocalTestApi, 'endpoints'>>): Promise<ServedApi> {
  return await serveApi({
    registrations: await toRegistrations(resources),
    modules: [schema],
    config: mergeConfig({ ...config, multiTenancy: multiTenancy && { ...DEFAULT_MULTI_TENANCY, ...multiTenancy } }),
    plugins: plugins.map((plugin, index): ListedPlugin => ({ where: `plugins[${index}]`, listed: () => plugin })),
    // Signed values are needed inside this process only.
    useRuntimeConfig: () => ({ autoApi: { secret: SECRET } }),
    builtPlugins: 'all',
    db: database,
    engine,
    middleware,
    endpoints,
  })
}

const SECRET = 'the secret of nuxt-auto-api/testing'

function mergeConfig(config: NonNullable<LocalTestApi['config']>): AutoApiConfig {
  const isGroup = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
  const defaults = DEFAULT_CONFIG as unknown as Readonly<Record<string, unknown>>
  const merged = Object.entries(config).map(([name, value]) =>
    [name, isGroup(value) && isGroup(defaults[name]) ? { ...defaults[name] as object, ...value as object } : value])
  return { ...defaults, ...Object.fromEntries(merged) } as unknown as AutoApiConfig
}

function findRoutes({ pluginRoutes, resources, config }: ServedApi['api'], endpoints: readonly string[]): TestRoute[] {
  const ofPlugins = pluginRoutes.flatMap(({ method, path, resources: names }): TestRoute[] =>
    path.startsWith('/:resource')
      ? [...names ?? resources.keys()].map(resource => ({ method, path: path.replace(':resource', resource), resource, plugin: true }))
      : [{ method, path, plugin: true }])
  const ofApp = endpoints.flatMap((address): TestRoute[] => {
    const [method, path] = address.split(' ') as [string, string]
    if (!path.startsWith(`${config.prefix}/`)) return []
    const below = path.slice(config.prefix.length)
    const resource = below.split('/')[1]!
    return [{ method, path: below, plugin: false, ...resources.has(resource) && { resource } }]
  })
  return [...ofPlugins, ...ofApp]
}
