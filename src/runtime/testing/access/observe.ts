/** Observes who can do what: sends every request of the matrix as every caller. */
import type { AccessTable } from '../../shared/access-matrix'
import type { TestClient } from '../api/client'
import type { TestApi, TestRoute } from '../api/create'
import { toCell, YES } from './cell'
import type { Found, FoundResource } from './discover'
import { fieldCell, type RowAccess } from './fields'
import { PROBES, RELATION_PROBES, toPath, WITHOUT_ROW, write, type NamedRows, type Probe, type RowId, type Situation } from './probes'
import { createBody, type Values } from './values'

/** A request that the matrix contains besides those of the generated routes. `false` leaves a route out. */
export type ExtraRequest = { readonly body?: unknown, readonly query?: Values } | boolean

/** What a test says about a resource. */
export interface ResourceSetup {
  readonly rows: NamedRows
  readonly values: { readonly create?: Values, readonly update?: Values }
  /** By method and path below the prefix: `POST /posts/:id/publish`. */
  readonly requests: Readonly<Record<string, ExtraRequest>>
}

export interface Observation<Name extends string = string> {
  readonly api: TestApi<Name>
  readonly found: Found
  readonly callers: readonly Name[]
  readonly rowsOf: Situation['rowsOf']
}

type Send = (client: TestClient, caller: string) => Promise<string>

/** Returns the table of the routes without a resource. */
export async function observeOthers({ api, callers }: Observation, requests: ResourceSetup['requests']): Promise<AccessTable> {
  const lines = createLines('other routes', api, callers)
  await observeRoutes(api, lines, '', {}, requests)
  return lines.table
}

/** Collects the lines of a table. */
function createLines(name: string, api: TestApi, callers: readonly string[]) {
  const rows: string[][] = []
  return {
    table: { name, columns: ['request', ...callers], rows } satisfies AccessTable,
    /** Sends a request as every caller. @throws When it fails in the server: then the matrix says nothing. */
    async observe(subject: string, send: Send): Promise<void> {
      const cells: string[] = []
      for (const caller of callers) cells.push(await send(api.as(caller), caller))
      const failed = cells.findIndex(cell => /\b5\d\d\b/.test(cell))
      if (failed !== -1)
        throw new Error(`[auto-api] ${name}: "${subject}" for ${callers[failed]} failed with ${cells[failed]}. The log has the cause.`)
      rows.push([subject, ...cells])
    },
  }
}

async function observeRoutes(
  api: TestApi, { observe }: ReturnType<typeof createLines>, resource: string, rows: NamedRows, requests: ResourceSetup['requests'],
): Promise<void> {
  for (const route of routesOf(api, resource, requests)) {
    for (const [row, id] of route.path.includes('/:id') ? Object.entries(rows) : [['', ''] as const])
      await observe(`${route.method} ${route.path}${row && `: ${row}`}`, client => sendRoute(api, client, route, id))
  }
}

/** Returns the table of a resource: one line per request and row, then one per field. */
export async function observeResource(
  { api, found, callers, rowsOf }: Observation, resource: FoundResource, { rows, values, requests }: ResourceSetup,
): Promise<AccessTable> {
  const known = await readRecord(api, resource, rows)
  const body = createBody(resource, values.create ?? {}, known)
  const access = new Map<string, { records: Values[], updatable: RowId | undefined, canCreate: boolean }>(
    callers.map(caller => [caller, { records: [], updatable: undefined, canCreate: false }]))
  const lines = createLines(resource.name, api, callers)
  const { observe } = lines
  const situationOf = (client: TestClient): Situation => ({ client, resource, hasBulk: found.hasBulk, body, rowsOf })

  for (const [name, probe] of Object.entries(PROBES) as [keyof typeof PROBES, Probe][]) {
    if (probe.appliesTo && !probe.appliesTo(resource)) continue
    if (WITHOUT_ROW.has(name)) {
      await observe(name, async (client, caller) => {
        const cell = await probe.send(situationOf(client), '')
        access.get(caller)!.canCreate = cell.startsWith(YES)
        return cell
      })
      continue
    }
    for (const [row, id] of Object.entries(rows)) {
      await observe(`${name}: ${row}`, async (client, caller) => {
        const cell = await probe.send(situationOf(client), id)
        if (name === 'update' && cell.startsWith(YES)) access.get(caller)!.updatable ??= id
        return cell
      })
    }
  }
  for (const relation of resource.relations) {
    for (const [name, probe] of Object.entries(RELATION_PROBES)) {
      if (!(probe.kinds as readonly string[]).includes(relation.kind)) continue
      for (const [row, id] of Object.entries(rows))
        await observe(`${name} ${relation.name}: ${row}`, client => probe.send(situationOf(client), relation, id))
    }
  }
  await observeRoutes(api, lines, resource.name, rows, requests)
  for (const caller of callers) await readRecords(api.as(caller), resource, rows, access.get(caller)!.records)
  for (const field of resource.fields.keys()) {
    await observe(`field ${field}`, (client, caller) =>
      fieldCell(client, resource, field, access.get(caller)! satisfies RowAccess, { body, given: values.update ?? {}, known }))
  }
  return lines.table
}

async function readRecords(client: TestClient, { name, hasTrash }: FoundResource, rows: NamedRows, records: Values[]): Promise<void> {
  for (const id of Object.values(rows)) {
    for (const query of hasTrash ? [{}, { includeDeleted: true }] : [{}]) {
      const { status, body } = await client.get<Values>(`/${name}/${toPath(id)}`, query)
      if (status === 200) records.push(body)
    }
  }
}

/** Returns the first named row with the fields that all callers together can read. */
async function readRecord(api: TestApi, resource: FoundResource, rows: NamedRows): Promise<Values> {
  for (const [row, id] of Object.entries(rows)) {
    const records: Values[] = []
    for (const caller of api.callers) await readRecords(api.as(caller), resource, { [row]: id }, records)
    if (records.length > 0) return Object.assign({}, ...records) as Values
  }
  return {}
}

interface ExtraRoute extends TestRoute {
  readonly request: Exclude<ExtraRequest, boolean>
}

/** @throws When a route of the app is not listed, and sending it could change rows. */
function routesOf(api: TestApi, resource: string, requests: ResourceSetup['requests']): ExtraRoute[] {
  const known = api.routes.filter(route => (route.resource ?? '') === resource)
  const addresses = new Set([...known.map(({ method, path }) => `${method} ${path}`), ...Object.keys(requests)])
  return [...addresses].flatMap((address): ExtraRoute[] => {
    const [method, path] = address.split(' ') as [string, string]
    const isPlugin = known.some(route => route.plugin && `${route.method} ${route.path}` === address)
    const request = Object.hasOwn(requests, address) ? requests[address] : undefined
    if (request === false) return []
    if (request === undefined && !isPlugin && method !== 'GET') {
      throw new Error(
        `[auto-api] The endpoint \`${address}\` is not listed. Add \`requests({ '${address}': { body } })\`, or \`false\` to leave it out.`,
      )
    }
    return [{ method, path, plugin: isPlugin && request === undefined, request: typeof request === 'object' ? request : {} }]
  })
}

/** A route of a plugin that reads can stream for ever. */
const TIME_LIMIT = 5000

async function sendRoute(api: TestApi, client: TestClient, { method, path, plugin, request }: ExtraRoute, id: RowId): Promise<string> {
  const target = path.replace('/:id', `/${toPath(id)}`)
  if (method === 'GET') return await withTimeLimit(client.get(target, request.query).then(toCell))
  // The API refuses a dry run that the plugin does not support, after the authorization.
  if (plugin) {
    const response = await write(client, method, target, { body: {} })
    return response.code === 'DRY_RUN_UNSUPPORTED' ? YES : toCell(response)
  }
  if (!api.reset)
    throw new Error(`[auto-api] \`${method} ${path}\` can change rows. Pass \`reset\` to createTestApi(), which restores them.`)
  const cell = toCell(await client.request(method, target, request))
  await api.reset()
  return cell
}

async function withTimeLimit(cell: Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, TIME_LIMIT, 'no end')
  })
  try {
    return await Promise.race([cell, limit])
  }
  finally {
    clearTimeout(timer)
  }
}
