/** Only moderators read all likes, because a like names a record that others may not see. Nobody learns who likes what. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { likes } from './schema'

export const likesAuth = defineResourceAuth<typeof likes>({
  permissions: { read: 'moderator' },
  fields: { userId: { read: false } },
})
