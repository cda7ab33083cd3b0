import { defineResource } from 'nuxt-auto-api/define'
import { authorStats } from '../database/views'

export default defineResource(authorStats, {
  key: 'authorId',
  references: { authorId: 'users' },
  permissions: { read: true },
  tracks: ['users', 'posts'],
})
