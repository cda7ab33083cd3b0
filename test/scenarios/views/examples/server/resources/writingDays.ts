import { defineResource } from 'nuxt-auto-api/define'
import { writingDays } from '../database/writingDays'

export default defineResource(writingDays, {
  key: ['authorId', 'day'],
  permissions: { read: true },
  tracks: ['posts'],
})
