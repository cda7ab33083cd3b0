/** The component of each view. Every view is a file of its own, which the browser loads when it opens the view. */
import { defineAsyncComponent, type Component } from 'vue'
import type { ViewName } from './routes'

/** Each component has the properties of its view: `resource`, `id` or `path`. */
export const VIEWS: Readonly<Record<ViewName, Component>> = {
  overview: defineAsyncComponent(() => import('./views/overview.vue')),
  list: defineAsyncComponent(() => import('./views/list.vue')),
  create: defineAsyncComponent(() => import('./views/create.vue')),
  record: defineAsyncComponent(() => import('./views/record.vue')),
  trash: defineAsyncComponent(() => import('./views/trash.vue')),
  tokens: defineAsyncComponent(() => import('./views/tokens.vue')),
  audit: defineAsyncComponent(() => import('./views/audit.vue')),
  activity: defineAsyncComponent(() => import('./views/activity.vue')),
  permissions: defineAsyncComponent(() => import('./views/permissions.vue')),
  page: defineAsyncComponent(() => import('./custom-page.vue')),
}
