/** The hooks of the server plugin in the docs page `hooks`. */
import { createError } from 'h3'
import { addGlobalHook, addResourceHook } from 'nuxt-auto-api/utils'

const locked = new Set<unknown>([2])

export function addHooks() {
  addResourceHook('tasks', {
    beforeDelete: (id) => {
      if (locked.has(id)) throw createError({ statusCode: 423, message: 'Somebody is working on it.' })
    },
  })
  addGlobalHook({
    afterDelete: (id, ctx) => {
      console.info(`${ctx.user?.name} deleted ${ctx.resource} ${id}`)
    },
  })
}
