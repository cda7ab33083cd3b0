/** The numbers of each author, from a view. Members of an organization see those of each other. */
import { defineResource } from 'nuxt-auto-api/define'
import { authorStats } from '../database/schema'

export default defineResource(authorStats, {
  key: 'authorId',
  references: { authorId: 'users' },
  tracks: ['users', 'posts', 'comments'],
  permissions: { read: ctx => ctx.user !== null },
  metadata: {
    label: 'Author statistics',
    singular: 'author statistics',
    icon: 'i-lucide-chart-no-axes-column',
    fields: { name: { column: 0 }, posts: { column: 1 }, views: { column: 2 }, comments: { column: 3 } },
  },
})
