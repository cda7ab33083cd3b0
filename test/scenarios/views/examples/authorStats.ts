/** Example of the docs page `views`: the resource of a view. */
import { defineResource } from 'nuxt-auto-api/define'
import { authorStats } from './schema'

export default defineResource(authorStats, {
  key: 'authorId',
  references: { authorId: 'users' },
  permissions: { read: true },
  tracks: ['users', 'posts'],
})
