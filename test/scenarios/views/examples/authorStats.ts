/** Example of docs/2.guides/14.views.md: the resource of a view. */
import { defineResource } from 'nuxt-auto-api/define'
import { authorStats } from './schema'

export default defineResource(authorStats, {
  key: 'authorId',
  references: { authorId: 'users' },
  permissions: { read: true },
  tracks: ['users', 'posts'],
})
