/** Everybody can count likes. Nobody learns who likes what. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { likes } from './schema'

export const likesAuth = defineResourceAuth<typeof likes>({
  permissions: { read: true },
  fields: { userId: { read: false } },
})
