/** Example of the docs page `views`: the resource of a view with a key of two columns. */
import { defineResource } from 'nuxt-auto-api/define'
import { writingDays } from './schema'

export default defineResource(writingDays, {
  key: ['authorId', 'day'],
  permissions: { read: true },
  tracks: ['posts'],
})
