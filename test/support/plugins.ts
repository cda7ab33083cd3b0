/**
 * The factories of `nuxt-auto-api/plugins`, with options for each. A factory joins the tests over all factories and over all plugin routes
 * when it is exported: without a row here, they fail.
 */
import { createModuleImport } from '../../src/module'
import * as exported from '../../src/runtime/plugins'
import type { AutoApiPlugin } from '../../src/runtime/server/plugin/contract'

export interface Factory {
  /** Every option, with a value that `nuxt.config` can have. */
  readonly valid: Readonly<Record<string, unknown>>
  /** Options that can be code, and therefore a module import. */
  readonly code: readonly string[]
  /** A mistyped option and the option that the message suggests. */
  readonly mistyped: readonly [typed: string, meant: string]
}

export const FACTORIES: Readonly<Record<string, Factory>> = {
  activityFeed: {
    valid: { actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } },
    code: [],
    mistyped: ['label', 'labels'],
  },
  auditLog: {
    valid: { resource: 'auditLog', resources: ['posts'], except: ['users'], secrets: { posts: ['body'] }, retentionDays: 9 },
    code: [],
    mistyped: ['secret', 'secrets'],
  },
  betterAuth: { valid: { auth: createModuleImport('/app/server/auth', 'auth') }, code: ['auth'], mistyped: ['authh', 'auth'] },
  dataExport: {
    valid: {
      resources: ['posts'],
      formats: ['csv', 'json', 'ndjson'],
      maxRows: 9,
      concurrent: 1,
      maxImportRows: 9,
      maxImportSize: 900,
      maxImportValues: 9,
    },
    code: [],
    mistyped: ['maxRow', 'maxRows'],
  },
  fileUpload: {
    valid: {
      resources: { posts: { cover: { accept: ['image/png'], maxSize: '5mb', maxPixels: 1, multiple: true, maxFiles: 2 } } },
      storage: { type: 's3', bucket: 'files', region: 'eu-central-1', endpoint: 'http://127.0.0.1:9000', prefix: 'app/' },
    },
    code: ['storage'],
    mistyped: ['storge', 'storage'],
  },
  idempotency: { valid: { ttl: '2h' }, code: [], mistyped: ['tll', 'ttl'] },
  live: {
    valid: { channel: 'postgres', maxStreams: 9, maxStreamsPerCaller: 2, recheck: 30, pollInterval: 5 },
    code: [],
    mistyped: ['maxStream', 'maxStreams'],
  },
  mcp: {
    valid: { write: true, resources: ['posts'], except: ['users'], path: '/agents', maxRows: 9, maxBytes: 9_000, instructions: 'Posts.' },
    code: [],
    mistyped: ['writes', 'write'],
  },
  openApi: {
    valid: {
      access: createModuleImport('/app/server/openapi', 'access'),
      info: { title: 'Newsroom', version: '2.0.0' },
      servers: [{ url: 'https://example.com' }],
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
      reference: true,
    },
    code: ['access'],
    mistyped: ['acess', 'access'],
  },
  rateLimit: {
    valid: {
      name: 'burst',
      limit: 5,
      window: 1,
      by: 'user',
      operations: { read: { limit: 1, window: 2 }, create: false },
      store: 'limits',
      maxKeys: 9,
    },
    code: ['by', 'store'],
    mistyped: ['limt', 'limit'],
  },
  apiTokens: {
    valid: {
      resource: 'apiTokens',
      findUser: createModuleImport('/app/server/tokens', 'findUser'),
      prefix: 'acme',
      maxDays: 30,
      allowNoExpiry: true,
      grace: 0,
      manage: 'admin',
      failures: { limit: 5, window: 60, store: 'limits' },
    },
    code: ['findUser'],
    mistyped: ['findUsr', 'findUser'],
  },
  batch: { valid: { maxSteps: 5 }, code: [], mistyped: ['maxStep', 'maxSteps'] },
  tokenIntrospection: { valid: { limit: 5, window: 10 }, code: [], mistyped: ['limt', 'limit'] },
  responseCache: {
    valid: {
      ttl: 9,
      storage: 'responses',
      resources: ['posts'],
      reads: { posts: ['users'] },
      vary: ['plan', 'metadata.country'],
      maxBytes: 9_000,
    },
    code: ['storage'],
    mistyped: ['tll', 'ttl'],
  },
  requestMetadata: { valid: { ip: 'prefix' }, code: [], mistyped: ['ipp', 'ip'] },
  webhooks: {
    valid: {
      resource: 'webhooks',
      deliveries: 'webhookDeliveries',
      findUser: createModuleImport('/app/server/webhooks', 'findUser'),
      manage: 'admin',
      timeout: 5,
      retries: [1, 60],
      allowHttp: true,
      allowPrivateNetworks: false,
      onRevoked: 'omit',
      maxWebhooks: 5,
      retentionDays: 9,
      grace: 0,
    },
    code: ['findUser'],
    mistyped: ['retrys', 'retries'],
  },
}

export type CreatePlugin = (options?: unknown) => AutoApiPlugin

/** Functions that create something else than a plugin. */
const STORAGES = ['fileSystemStorage', 'r2Storage', 's3Storage', 'unstorageStorage']

/** Every exported factory by name. */
export const EXPORTED: ReadonlyMap<string, CreatePlugin> = new Map(
  Object.entries(exported).filter((entry): entry is [string, never] => typeof entry[1] === 'function' && !STORAGES.includes(entry[0])),
)

/** Creates the plugin of each factory. @throws When a factory has no row in `FACTORIES`. */
export function createBuiltInPlugins(): readonly AutoApiPlugin[] {
  return [...EXPORTED].map(([name, create]) => {
    const factory = FACTORIES[name]
    if (!factory) throw new Error(`The factory \`${name}\` has no row in test/support/plugins.ts.`)
    return create(factory.valid)
  })
}
