/** Exports lists as files and imports files, with the rows, the fields and the permissions of the generated routes. */
import { callerKey, preferredType, type RouteRequest } from '../../server/kit/request'
import { defineAutoApiPlugin, type PluginRoute } from '../../server/plugin/contract'
import { reportEvent } from '../../server/plugin/events'
import { provideAdmin } from '../../server/plugin/features'
import type { PluginServer } from '../../server/plugin/server'
import { callFor, canUseRoute, type AutoApiContext, type Session } from '../../server/kit/call'
import type { Resource } from '../../server/kit/rows'
import type { DescribedCapabilities } from '../../shared/types/description'
import { IMPORT_TYPES, importFile } from './server/import/index'
import { DESCRIBE_IMPORT, DESCRIBE_LIST_EXPORT, describeExport, OF_EXPORT } from './describe'
import { createFile } from './server/file'
import { FORMAT_FACTS, type Format } from './server/formats'
import { resolveExportPolicy, type DataExportOptions, type ExportPolicy } from './options'
import { parseExport } from './server/request'
import type { TransferFeatures } from './shared/admin'
import { createSlots, type Slots } from './server/concurrency-limit'

/** The named gate that decides about exports, for resources that declare it. */
const GATE = 'export'

/**
 * Adds `GET /:resource/export` and `POST /:resource/import`. A list that is requested as `text/csv` or `application/x-ndjson` answers the
 * same file as the export.
 * @throws If an option is unknown or a value is invalid.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   autoApi: { plugins: [dataExport({ resources: ['posts'], maxRows: 20_000 })] },
 * })
 */
export const dataExport = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'dataExport' }, (options: DataExportOptions = {}) => {
  const policy = resolveExportPolicy(options)
  const { resources, formats } = policy
  const slots = createSlots(policy.concurrent, 'exports')
  const imports = { ...policy, slots: createSlots(policy.concurrent, 'imports') }
  let server: PluginServer
  const shared = () => ({ ...policy, slots, server })
  const negotiated = formats.filter(format => format !== 'json')
  const common = { method: 'GET', operation: 'read', listParameters: true, gate: GATE, ...resources && { resources } } as const
  const routes: PluginRoute[] = [{
    ...common,
    name: 'export',
    path: '/:resource/export',
    parameters: ['format', ...Object.keys(OF_EXPORT)],
    describe: describeExport(formats),
    handler: (ctx, request) =>
      exportList(ctx, request, { ...shared(), format: formatByHeader(request, formats) ?? formats[0] }),
  }]
  if (negotiated.length > 0) {
    routes.push({
      ...common,
      name: 'list-export',
      path: '/:resource',
      parameters: ['format', ...Object.keys(OF_EXPORT)],
      describe: DESCRIBE_LIST_EXPORT,
      produces: negotiated.map(format => FORMAT_FACTS[format].mediaType),
      handler: (ctx, request) =>
        exportList(ctx, request, { ...shared(), format: formatByHeader(request, negotiated)!, fixed: true }),
    })
  }
  routes.push({
    name: 'import',
    method: 'POST',
    path: '/:resource/import',
    operation: ['create', 'update'],
    accepts: IMPORT_TYPES,
    parameters: Object.keys(DESCRIBE_IMPORT.query!),
    describe: DESCRIBE_IMPORT,
    dryRun: true,
    ...resources && { resources },
    handler: (ctx, request) => importFile(ctx, request, server.resources.get(ctx.resource)!, imports, server.saveRecords),
  })
  return {
    name: 'data-export',
    setup(given) {
      server = given
      provideAdmin(server, { features: (session, resource, { capabilities }) => findTransfers(session, resource, capabilities, policy) })
    },
    routes,
  }
})

/** What the caller can export and import in the admin. */
async function findTransfers(
  session: Session, resource: Resource, { canCreate, canUpdate }: DescribedCapabilities, { resources, formats }: ExportPolicy,
): Promise<TransferFeatures> {
  if (resources && !resources.includes(resource.name)) return {}
  return {
    ...await canUseRoute(callFor(session, resource, 'read'), ['read'], GATE) && { exportFormats: formats },
    ...(canCreate || canUpdate) && { import: true },
  }
}

function formatByHeader({ header }: RouteRequest, formats: readonly Format[]): Format | undefined {
  const type = preferredType(header('accept'), formats.map(format => FORMAT_FACTS[format].mediaType))
  return formats.find(format => FORMAT_FACTS[format].mediaType === type)
}

interface ExportOptions extends ExportPolicy {
  readonly slots: Slots
  readonly server: PluginServer
  /** The format of a request without `format`. */
  readonly format: Format
  readonly fixed?: boolean
}

async function exportList(ctx: AutoApiContext, request: RouteRequest, options: ExportOptions): Promise<AsyncIterable<string>> {
  const { formats, maxRows, slots, server } = options
  const { format, query, ...csv } = parseExport(ctx.query, formats, options)
  const list = await server.openList(ctx, ctx.resource, query, { gate: GATE })
  const { mediaType, createWriter } = FORMAT_FACTS[format]
  const writer = createWriter(list.columns, csv)
  const headers = {
    'content-type': `${mediaType}; charset=utf-8`,
    'content-disposition': attachment(`${ctx.resource}-${new Date().toISOString().slice(0, 10)}.${format}`),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
  for (const [name, value] of Object.entries(headers)) request.setHeader(name, value)
  return createFile(list, writer, {
    maxRows,
    take: () => slots.take(callerKey(ctx, request)),
    async onTotal(total) {
      const columns = list.columns.fields.map(({ name }) => name)
      await reportEvent(server.services, ctx, { kind: 'export', columns, query, details: { format, rows: total } })
      request.setHeader('x-total-count', String(total))
    },
  })
}

/** RFC 6266, with the name in UTF-8 for clients that support RFC 5987. */
function attachment(name: string): string {
  const ascii = name.replace(/[^\w.-]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
