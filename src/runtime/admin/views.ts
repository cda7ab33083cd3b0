/** The component of each view. Every view is a file of its own, which the browser loads when it opens the view. */
import { defineAsyncComponent, type Component } from 'vue'
import type { AdminTool } from '../shared/types/admin'
import { views } from './model/nuxt'
import type { AdminView } from './routes'

/** Each component has the properties of its view: `resource`, `id` or `path`. */
const VIEWS: Readonly<Record<Exclude<AdminView['name'], 'tool'>, Component>> = {
  overview: defineAsyncComponent(() => import('./views/overview/overview.vue')),
  list: defineAsyncComponent(() => import('./views/list/list.vue')),
  create: defineAsyncComponent(() => import('./views/create/create.vue')),
  record: defineAsyncComponent(() => import('./views/record/record.vue')),
  trash: defineAsyncComponent(() => import('./views/trash/trash.vue')),
  page: defineAsyncComponent(() => import('./custom-page.vue')),
}

const TOOLS: ReadonlyMap<AdminTool, Component> = new Map([
  ...views.map(({ name, load }) => [name, defineAsyncComponent(load)] as const),
  ['permissions', defineAsyncComponent(() => import('./views/permissions/permissions.vue'))],
])

/** Returns the component of a view and its properties. */
export function componentOf(view: AdminView): { readonly component: Component | undefined, readonly props: object } {
  if (view.name === 'tool') return { component: TOOLS.get(view.tool), props: {} }
  const { name, ...props } = view
  return { component: VIEWS[name], props }
}
