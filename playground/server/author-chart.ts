/** Lets callers who can read the statistics of authors see their chart on the overview of the admin. */
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { provideAdmin } from 'nuxt-auto-api/kit'

export default defineAutoApiPlugin({
  name: 'author-chart',
  setup(server) {
    provideAdmin(server, { tools: { authorChart: (_session, { authorStats }) => authorStats?.capabilities.canRead ?? false } })
  },
})
