/** Server util that records events of the app in the audit log. */
import { withHttpErrors } from '../http/handle'
import type { CallerContext } from '../core/entries/call'
import { requireSession } from '../core/request/session'
import { findRecorder, type Activity, type RecordedActivity } from '../plugin/events'
import type { AutoApiContext } from '../registration'

export type { Activity, RecordedActivity } from '../plugin/events'

/**
 * Records an event of the app, such as a publication. It appears in the audit log and in the activity feed, for readers of the record.
 * Await the return value, or pass it to {@link atomicWrites} to commit it together with other statements.
 * @throws {TypeError} When the resource, the id, the verb or the data is invalid, or no plugin such as `auditLog` is listed.
 * @example
 * await recordActivity(ctx, { resource: 'posts', id: post.id, verb: 'published', data: { channel: 'newsletter' } })
 */
export function recordActivity(ctx: CallerContext, activity: Activity): RecordedActivity {
  const record = findRecorder(requireSession(ctx).api.services)
  if (!record) throw new TypeError('[auto-api] recordActivity(): list the plugin `auditLog()` in `autoApi.plugins`.')
  return record(ctx, activity, run => withHttpErrors((ctx as AutoApiContext).event, run))
}
