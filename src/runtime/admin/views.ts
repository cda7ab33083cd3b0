/** The component of each view. Every view is a file of its own, which the browser loads when it opens the view. */
import { defineAsyncComponent, type Component } from 'vue'
import type { ViewName } from './routes'

/** Each component has the properties of its view: `resource`, `id` or `path`. */
export const VIEWS: Readonly<Record<ViewName, Component>> = {
  overview: defineAsyncComponent(() => import('./views/overview/overview.vue')),
  list: defineAsyncComponent(() => import('./views/list/list.vue')),
  create: defineAsyncComponent(() => import('./views/create/create.vue')),
  record: defineAsyncComponent(() => import('./views/record/record.vue')),
  trash: defineAsyncComponent(() => import('./views/trash/trash.vue')),
  tokens: defineAsyncComponent(() => import('../plugins/api-tokens/admin/tokens.vue')),
  audit: defineAsyncComponent(() => import('../plugins/audit-log/admin/audit.vue')),
  activity: defineAsyncComponent(() => import('../plugins/activity-feed/admin/activity.vue')),
  permissions: defineAsyncComponent(() => import('./views/permissions/permissions.vue')),
  page: defineAsyncComponent(() => import('./custom-page.vue')),
}
