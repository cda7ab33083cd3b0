/** Keeps the ids of labels and inputs the same on the server and in the browser. */
import type { Nuxt } from 'nuxt/schema'

/**
 * Nuxt removes `onServerPrefetch` from the code of the browser. Vue counts a component that calls it differently for the ids of `useId`, so
 * the ids after it would differ: https://github.com/vuejs/core/issues/12591. The icons of Nuxt UI call it.
 */
export function keepServerPrefetch({ options: { optimization } }: Nuxt): void {
  const { client } = optimization.treeShake.composables
  // Nuxt has already read this object, but not its lists.
  if (client.vue) client.vue = client.vue.filter(name => name !== 'onServerPrefetch')
}
