/** Static hosts add a slash to the address of a page. Without it, links compare equal to the open page. */
export default defineNuxtRouteMiddleware(({ path, query, hash }) => {
  if (path.length > 1 && path.endsWith('/')) return navigateTo({ path: path.replace(/\/+$/, ''), query, hash }, { replace: true })
})
