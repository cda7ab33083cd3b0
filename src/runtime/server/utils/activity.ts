/** Server util that records events of the app in the audit log. */
import { withHttpErrors } from '../http'
import type { CallerContext } from '../core/entries/call'
import type { AutoApiContext } from '../registration'
import { createActivity, type Activity, type RecordedActivity } from '../../plugins/audit-log/server/record-activity'

export type { Activity, RecordedActivity } from '../../plugins/audit-log/server/record-activity'

/**
 * Records an event of the app, such as a publication. It appears in the audit log and in the activity feed, for readers of the record.
 * Await the return value, or pass it to {@link atomicWrites} to commit it together with other statements.
 * @throws {TypeError} When the resource, the id, the verb or the data is invalid, or the plugin `auditLog` is not listed.
 * @example
 * await recordActivity(ctx, { resource: 'posts', id: post.id, verb: 'published', data: { channel: 'newsletter' } })
 */
export function recordActivity(ctx: CallerContext, activity: Activity): RecordedActivity {
  return createActivity(ctx, activity, run => withHttpErrors((ctx as AutoApiContext).event, run))
}
