/** The hooks of the docs page `relations`. */
import { createError } from 'h3'
import { defineResourceHooks } from 'nuxt-auto-api/define'
import type { playlists } from './schema'

export const playlistsHooks = defineResourceHooks<typeof playlists>({
  beforeLink: (relation, ids) => {
    if (relation === 'songs' && ids.length > 50) throw createError({ statusCode: 422, message: 'A playlist takes fifty songs at a time.' })
  },
  afterLink: (relation, { added, removed, total }, ctx) => {
    console.info(`${ctx.user?.name}: ${relation} +${added} -${removed}, now ${total}`)
  },
})
