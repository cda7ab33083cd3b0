/** Records every change in the commit of the change, and shows each reader the changes that the reader may see today. */
import type { CommitParticipant } from '../../server/kit/listen'
import type { AutoApiContext, ResourceHooks } from '../../server/kit/call'
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { listenToEvents, provideRecorder } from '../../server/plugin/events'
import { provideAdmin, provideFeatures } from '../../server/plugin/features'
import { DESCRIBE_HISTORY, DESCRIBE_LOG, DESCRIBE_REVERT } from './describe'
import { openAuditLog, type AuditLog } from './server/log'
import { assertAuditLogOptions, type AuditLogOptions } from './options'
import type * as Server from './server/index'
import type { AuditFeatures } from './shared/admin'

export { findAuditLog, type AuditLog } from './server/log'
export type { AuditLogOptions } from './options'

type Values = Record<string, unknown>

/**
 * Records one entry for each changed row, in the same commit. Adds `GET /audit-log`, `GET /:resource/:id/history` and
 * `POST /audit-log/:id/revert`. The resource `auditLog` authorizes its readers.
 * @throws If an option is unknown or a value is invalid. When the server starts, also if the table or a name does not fit.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   autoApi: { plugins: [auditLog({ except: ['sessions'], secrets: { users: ['recoveryCode'] }, retentionDays: 365 })] },
 * })
 */
export const auditLog = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'auditLog' }, (options: AuditLogOptions = {}) => {
  assertAuditLogOptions(options)
  const { resource = 'auditLog', retentionDays } = options
  let log: AuditLog
  let server: typeof Server
  const inCommit: CommitParticipant = (changes, ctx) => server.entriesFor(log, changes, ctx)
  const history = '/:resource/:id/history'
  const revert = '/audit-log/:id/revert'
  const redactHooks: ResourceHooks = {
    afterList: (entries: readonly Values[], ctx: AutoApiContext) => server.redactEntries(log, entries, ctx),
    afterGet: async (entry: Values, ctx: AutoApiContext) => (await server.redactEntries(log, [entry], ctx))[0],
  } as ResourceHooks
  const canReadLog = (ctx: AutoApiContext) => server.canReadLog(log, ctx)
  return {
    name: 'audit-log',
    // Loaded here, because nuxt.config loads this file without the server's modules. Plugins that are set up next find the log.
    setup(plugin) {
      log = openAuditLog(options, plugin)
      listenToEvents(plugin.services, (ctx, event) => server.recordEvent(log, ctx, event))
      provideFeatures(plugin, { history: { resource, records: log.records } })
      provideAdmin(plugin, {
        tools: { audit: ({ ctx }) => canReadLog(ctx) },
        async features({ ctx }, { name }, { capabilities: { canRead } }): Promise<AuditFeatures> {
          if (!canRead) return {}
          return {
            ...log.records(name) && await canReadLog(ctx) && { history: true },
            ...name === resource && { auditLog: true },
          }
        },
      })
      return import('./server/index').then((loaded) => {
        server = loaded
        provideRecorder(plugin.services, loaded.createRecorder(log))
      })
    },
    needs: { images: true },
    inCommit,
    unreported: [resource],
    disables: { [resource]: ['create', 'update', 'delete', 'restore', 'purge'] },
    // The id of a record that the reader may not see. Only a reader of all entries could see the entry of that record.
    fieldRules: { [resource]: { rootId: { read: `${resource}:all` } } },
    rows: { [resource]: (table, ctx) => server.visibleEntries(log, table, ctx) },
    rowChecks: { [resource]: ctx => server.entryCheck(log, ctx) },
    hooks: { [resource]: redactHooks },
    routes: [
      {
        name: 'audit-log', method: 'GET', path: '/audit-log', parameters: Object.keys(DESCRIBE_LOG.query!),
        describe: DESCRIBE_LOG, documentedFor: canReadLog,
        handler: ctx => server.listEntries(log, ctx),
      },
      {
        name: 'audit-log-history', method: 'GET', path: history, operation: 'read', parameters: Object.keys(DESCRIBE_HISTORY.query!),
        describe: DESCRIBE_HISTORY,
        documentedFor: ctx => log.records(ctx.resource) && canReadLog(ctx),
        handler: ctx => server.listHistory(log, ctx),
      },
      {
        name: 'audit-log-revert',
        method: 'POST',
        path: revert,
        parameters: [],
        dryRun: true,
        countsAs: ['update'],
        describe: DESCRIBE_REVERT,
        documentedFor: canReadLog,
        handler: (ctx, request) => server.revertEntry(log, ctx, request),
      },
    ],
    ...retentionDays !== undefined && {
      tasks: { retention: { every: 24 * 60, run: run => server.deleteOldEntries(log, retentionDays, run) } },
    },
  }
})
