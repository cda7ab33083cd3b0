/** Finds the audit log of the feed when the server starts. */
import { type AuditLog, findAuditLog } from '../audit-log/index'
import type { PluginServer } from '../../server/plugin/server'
import { assertLabels, type ActivityFeedOptions } from './options'

/** @throws When the plugin `auditLog` is not listed before the feed, or a label is not a text field. */
export function openFeed(options: ActivityFeedOptions, server: PluginServer): AuditLog {
  const log = findAuditLog(server)
  if (!log) throw new Error('[auto-api] activityFeed: list the plugin `auditLog()` before it in `autoApi.plugins`.')
  assertLabels(options, server)
  return log
}
