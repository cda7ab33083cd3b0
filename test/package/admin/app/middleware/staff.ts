/** Sends visitors without a session to the login page. */
export default defineNuxtRouteMiddleware(async () => {
  const { user } = await useRequestFetch()('/api/me')
  if (!user) return navigateTo('/login')
})
