/**
 * The routes of plugins in the visibility matrix. Each has the cells of the generated route that does the same, so a plugin route follows
 * the same rules. Every route of a built-in plugin and of the plugin in the visibility app needs a row here: without it, the test fails.
 */
import type { Operation } from '../../../src/runtime/shared/operations'
import type { PluginRoute } from '../../../src/runtime/server/plugin/contract'
import { EXPECTED, type Cell } from './expected'
import { COVER, type CallerName, type ReasonName } from './reasons'
import { added, ID, nothing, renamed, uploaded, withoutFile, type PluginRouteName, type Request, type RequestName } from './requests'

export interface PluginRequest extends Request {
  readonly route: PluginRouteName
  /** The operation of the route, if it belongs to a resource. */
  readonly operation?: Operation
  /** The operations of a request, if there are several. */
  readonly operations?: readonly Operation[]
  /** The media type of the body. @default 'application/json' */
  readonly accepts?: string
  /** The `Cache-Control` header, if it is not that of the generated routes. */
  /** Whether the route also accepts `multipart/form-data`. */
  readonly acceptsForms?: true
  readonly cacheControl?: string
  /** The request whose cells apply; `every caller` for a route that every caller can use and that shows no row. */
  readonly like: RequestName | 'every caller'
  /** Reasons whose cells are those of another reason, and why. */
  readonly except?: Partial<Record<ReasonName, { readonly as: ReasonName, readonly because: string }>>
}

const hasTitle: Request['shows'] = ({ body }) => typeof body.title === 'string'
/** A streamed response has a line for the row. */
const hasLine: Request['shows'] = ({ body }) => new RegExp(`^${ID},`, 'm').test(body)
const NEW_TITLE = { title: 'renamed' }

/** The handler reads the rows itself, with the SQL of rowScope. */
const WITHOUT_OBJECT_LEVEL: PluginRequest['except'] = {
  'objectLevel refuses the row': { as: 'nothing hides the row', because: 'objectLevel is code, so rowScope does not contain it' },
}

const TITLES: readonly PluginRequest[] = [
  {
    route: 'titles: GET /:resource/:id/title',
    operation: 'read',
    like: 'get',
    target: it => [`/${it}/${ID}/title`],
    status: 200,
    changes: nothing,
    shows: hasTitle,
  },
  {
    route: 'titles: PUT /:resource/:id/title',
    operation: 'update',
    like: 'update',
    target: it => [`/${it}/${ID}/title`, { method: 'PUT', body: NEW_TITLE }],
    status: 200,
    changes: renamed,
  },
  {
    route: 'titles: GET /:resource/titles',
    operation: 'read',
    like: 'list',
    except: WITHOUT_OBJECT_LEVEL,
    target: it => [`/${it}/titles`],
    status: 200,
    changes: nothing,
    shows: ({ body }) => body.some((row: { id: number }) => row.id === ID),
  },
  {
    route: 'titles: POST /:resource/titles',
    operation: 'create',
    like: 'create',
    target: it => [`/${it}/titles`, { method: 'POST', body: { title: 'made' } }],
    status: 200,
    changes: added,
  },
  {
    route: 'titles: GET /:resource/titles.csv',
    operation: 'read',
    like: 'list',
    target: it => [`/${it}/titles.csv`],
    status: 200,
    changes: nothing,
    shows: hasLine,
  },
  {
    route: 'titles: POST /:resource/titles.csv',
    operation: 'create',
    like: 'create',
    accepts: 'text/csv',
    // The JSON of this text is also a quoted field of a CSV file.
    target: it => [`/${it}/titles.csv`, { method: 'POST', body: 'made', headers: { 'content-type': 'text/csv' } }],
    status: 200,
    changes: added,
  },
  {
    route: 'titles: GET /titles/:name',
    like: 'list',
    target: it => [`/titles/${it}`],
    status: 200,
    changes: nothing,
    shows: hasLine,
  },
  {
    route: 'titles: GET /titles/:name/:id',
    like: 'get',
    target: it => [`/titles/${it}/${ID}`],
    status: 200,
    changes: nothing,
    shows: hasTitle,
  },
  {
    route: 'titles: PUT /titles/:name/:id',
    like: 'update',
    target: it => [`/titles/${it}/${ID}`, { method: 'PUT', body: NEW_TITLE }],
    status: 200,
    changes: renamed,
  },
  {
    route: 'titles: GET /titles/caller',
    like: 'every caller',
    target: () => ['/titles/caller'],
    status: 200,
    changes: nothing,
  },
]

const FILES: readonly PluginRequest[] = [
  {
    route: 'data-export: GET /:resource/export',
    operation: 'read',
    like: 'list',
    cacheControl: 'no-store',
    target: it => [`/${it}/export`],
    status: 200,
    changes: nothing,
    shows: hasLine,
  },
  {
    route: 'data-export: GET /:resource',
    operation: 'read',
    like: 'list',
    cacheControl: 'no-store',
    target: it => [`/${it}`, { headers: { accept: 'text/csv' } }],
    status: 200,
    changes: nothing,
    shows: hasLine,
  },
  {
    route: 'data-export: POST /:resource/import',
    operation: 'create',
    operations: ['create', 'update'],
    like: 'create',
    accepts: 'application/x-ndjson',
    // A JSON body is a file with one line.
    target: it => [`/${it}/import`, { method: 'POST', body: { title: 'made' }, headers: { 'content-type': 'application/x-ndjson' } }],
    status: 200,
    changes: added,
  },
]

const ADMIN: readonly PluginRequest[] = [
  { route: 'admin: GET /_admin', like: 'every caller', cacheControl: 'no-store', target: () => ['/_admin'], status: 200, changes: nothing },
  {
    route: 'admin: GET /_admin/rows', like: 'every caller', cacheControl: 'no-store', target: () => ['/_admin/rows'], status: 200,
    changes: nothing,
  },
]

const KEY = (JSON.parse(COVER) as { key: string }).key
/** The content of the file. */
const hasContent: Request['shows'] = ({ body }) => body === 'a,b'

const UPLOADS: readonly PluginRequest[] = [
  {
    route: 'fileUpload: POST /:resource/:id/upload/cover',
    operation: 'update',
    like: 'update',
    accepts: 'text/csv',
    acceptsForms: true,
    // The JSON of this text is also a quoted field of a CSV file.
    target: it => [`/${it}/${ID}/upload/cover`, { method: 'POST', body: 'made', headers: { 'content-type': 'text/csv' } }],
    status: 200,
    changes: uploaded,
  },
  ...['', `/${KEY}`].flatMap((end): PluginRequest[] => [
    {
      route: `fileUpload: GET /:resource/:id/files/cover${end && '/:key'}`,
      operation: 'read',
      like: 'get',
      target: it => [`/${it}/${ID}/files/cover${end}`],
      status: 200,
      changes: nothing,
      shows: hasContent,
    },
    {
      route: `fileUpload: DELETE /:resource/:id/files/cover${end && '/:key'}`,
      operation: 'update',
      like: 'update',
      target: it => [`/${it}/${ID}/files/cover${end}`, { method: 'DELETE' }],
      status: 200,
      changes: withoutFile,
    },
  ]),
]

/**
 * Routes that show entries about rows instead of rows. Their cells depend on the changes of a row too, so they have a matrix of readers,
 * fields and rows of their own.
 */
export const TESTED_ELSEWHERE: Readonly<Record<string, string>> = {
  'activity-feed: GET /activity': 'test/engines/activity.test.ts',
  'audit-log: GET /audit-log': 'test/engines/audit-log.test.ts',
  'audit-log: GET /:resource/:id/history': 'test/engines/audit-log.test.ts',
  'audit-log: POST /audit-log/:id/revert': 'test/engines/audit-log.test.ts',
  'batch: POST /batch': 'test/plugins/batch/matrix.test.ts',
  'live: GET /_live': 'test/plugins/live/live.test.ts',
  'mcp: POST /agents': 'test/plugins/mcp/mcp.test.ts',
  'api-tokens: POST /:resource/:id/rotate': 'test/plugins/api-tokens/management.test.ts',
  'open-api: GET /_openapi.json': 'test/plugins/open-api/document.test.ts',
  'open-api: GET /_reference': 'test/plugins/open-api/reference.test.ts',
  'webhooks: POST /:resource/:id/test': 'test/plugins/webhooks/manage.test.ts',
  'webhooks: POST /:resource/:id/rotate': 'test/plugins/webhooks/manage.test.ts',
  'webhooks: POST /:resource/:id/retry': 'test/plugins/webhooks/manage.test.ts',
  'token-introspection: POST /tokens/introspect': 'test/plugins/api-tokens/introspection.test.ts',
}

/** The requests of plugin routes by the name of their route. */
export const PLUGIN_REQUESTS: ReadonlyMap<string, PluginRequest> = new Map(
  [...TITLES, ...FILES, ...ADMIN, ...UPLOADS].map(request => [request.route, request]),
)

export const routeNameOf = (plugin: string, { method, path }: Pick<PluginRoute, 'method' | 'path'>) =>
  `${plugin}: ${method} ${path}` as PluginRouteName

export function pluginCell({ like, except }: PluginRequest, reason: ReasonName, caller: CallerName): Cell {
  return like === 'every caller' ? 'done' : EXPECTED[except?.[reason]?.as ?? reason][caller][like]
}
