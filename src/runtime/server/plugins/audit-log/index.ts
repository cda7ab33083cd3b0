/** Records every change in the commit of the change, and shows each reader the changes that the reader may see today. */
import type { CommitParticipant } from '../../core/changes'
import type { ResourceHooks, AutoApiContext } from '../../registration'
import { defineAutoApiPlugin } from '../../plugin/contract'
import { entriesFor } from './entries'
import { openAuditLog, type AuditLog } from './log'
import { assertAuditLogOptions, type AuditLogOptions } from './options'
import { listEntries, listHistory } from './read'
import { entryCheck } from './records'
import { redactEntries } from './redact'
import { deleteOldEntries } from './retention'
import { revertEntry } from './revert'
import { visibleEntries } from './visible'

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
  const inCommit: CommitParticipant = (changes, ctx) => entriesFor(log, changes, ctx)
  const history = '/:resource/:id/history'
  const revert = '/audit-log/:id/revert'
  const redactHooks: ResourceHooks = {
    afterList: (entries: readonly Values[], ctx: AutoApiContext) => redactEntries(log, entries, ctx),
    afterGet: async (entry: Values, ctx: AutoApiContext) => (await redactEntries(log, [entry], ctx))[0],
  } as ResourceHooks
  return {
    name: 'audit-log',
    setup(server) {
      log = openAuditLog(options, server, inCommit)
    },
    needs: { images: true },
    inCommit,
    disables: { [resource]: ['create', 'update', 'delete', 'restore', 'purge'] },
    rows: { [resource]: (table, ctx) => visibleEntries(log, table, ctx) },
    rowChecks: { [resource]: ctx => entryCheck(log, ctx) },
    hooks: { [resource]: redactHooks },
    routes: [
      { name: 'audit-log', method: 'GET', path: '/audit-log', handler: ctx => listEntries(log, ctx) },
      { name: 'audit-log-history', method: 'GET', path: history, operation: 'read', handler: ctx => listHistory(log, ctx) },
      {
        name: 'audit-log-revert',
        method: 'POST',
        path: revert,
        dryRun: true,
        handler: (ctx, request) => revertEntry(log, ctx, request),
      },
    ],
    ...retentionDays !== undefined && {
      tasks: { retention: { every: 24 * 60, run: run => deleteOldEntries(log, retentionDays, run) } },
    },
  }
})
