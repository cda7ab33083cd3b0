import { and, count, eq } from 'drizzle-orm'
import { createError, defineEventHandler, getQuery } from 'h3'
import { db } from '../database'
import { tasks } from '../schema'

export default defineEventHandler(async (event) => {
  const { user } = event.context
  if (!user) throw createError({ statusCode: 401 })
  const { page = '1', done } = getQuery<{ page?: string, done?: string }>(event)
  const mine = and(eq(tasks.ownerId, user.id), done === undefined ? undefined : eq(tasks.done, done === 'true'))
  const data = await db.select().from(tasks).where(mine).orderBy(tasks.id).limit(20).offset((Number(page) - 1) * 20)
  const [{ total }] = await db.select({ total: count() }).from(tasks).where(mine) as [{ total: number }]
  return { data, meta: { page: Number(page), limit: 20, total } }
})
