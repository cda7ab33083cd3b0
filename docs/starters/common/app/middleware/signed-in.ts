/** Sends visitors without a session to the page on which they sign in. The API checks each request itself. */
export default defineNuxtRouteMiddleware(async () => {
  const { data: session } = await authClient.useSession(useFetch)
  if (!session.value) return navigateTo('/sign-in')
})
