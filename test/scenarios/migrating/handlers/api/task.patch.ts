import { and, eq } from 'drizzle-orm'
import { createError, defineEventHandler, getRouterParam, readBody } from 'h3'
import { z } from 'zod'
import { db } from '../database'
import { tasks } from '../schema'

const body = z.object({ title: z.string().min(1).optional(), done: z.boolean().optional() })

export default defineEventHandler(async (event) => {
  const { user } = event.context
  if (!user) throw createError({ statusCode: 401 })
  const id = Number(getRouterParam(event, 'id'))
  const { success, data } = body.safeParse(await readBody(event))
  if (!success) throw createError({ statusCode: 400 })
  const [task] = await db.update(tasks).set(data).where(and(eq(tasks.id, id), eq(tasks.ownerId, user.id))).returning()
  if (!task) throw createError({ statusCode: 404 })
  return task
})
