/** Shows what happened to the records that the reader can see: an activity feed, computed from the audit log. */
import type { AuditLog } from '../audit-log/index'
import { decide, requireSession } from '../../server/kit/call'
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { PAGE_PARAMETERS } from '../../server/plugin/description'
import { provideAdmin } from '../../server/plugin/features'
import { DESCRIBE_FEED } from './describe'
import { openFeed } from './open'
import type * as Server from './server/index'
import { assertActivityOptions, PERMISSION, type ActivityFeedOptions } from './options'

export type { ActivityFeedOptions } from './options'
export type { ActivityEntry } from './shared/types'

/**
 * Adds `GET /activity` for callers with the permission `activity:read`. Requires the plugin `auditLog`, listed before it.
 * @throws If an option is unknown or a value is invalid. When the server starts, also if a label is not a text field.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   autoApi: { plugins: [auditLog(), activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } })] },
 * })
 */
export const activityFeed = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'activityFeed' }, (options: ActivityFeedOptions) => {
  assertActivityOptions(options)
  let log: AuditLog
  let feed: typeof Server
  return {
    name: 'activity-feed',
    // Loaded here, because nuxt.config loads this file without the server's modules.
    setup(server) {
      log = openFeed(options, server)
      provideAdmin(server, { users: options.actor, tools: { activity: session => decide(session, PERMISSION, session.ctx) } })
      return import('./server/index').then(loaded => void (feed = loaded))
    },
    routes: [{
      name: 'activity', method: 'GET', path: '/activity', parameters: Object.keys(PAGE_PARAMETERS), describe: DESCRIBE_FEED,
      documentedFor: ctx => decide(requireSession(ctx), PERMISSION, ctx),
      handler: ctx => feed.readFeed(log, options, ctx),
    }],
  }
})
