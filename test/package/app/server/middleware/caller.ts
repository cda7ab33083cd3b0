/** Stands in for the app's authentication. */
export default defineEventHandler((event) => {
  const id = getHeader(event, 'x-user')
  if (id) event.context.user = { id }
})
