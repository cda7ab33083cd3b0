/** Stands in for the app's authentication. */
import { defineHandler } from 'nitro/h3'

export default defineHandler((event) => {
  const id = event.req.headers.get('x-user')
  if (id) event.context.user = { id }
})
