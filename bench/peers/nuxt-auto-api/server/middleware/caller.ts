/** Who is calling, as the other contestants find it out. */
import Database from 'better-sqlite3'
import { readCallers } from '../../../callers'

let findCaller: ReturnType<typeof readCallers> | undefined

export default defineEventHandler((event) => {
  findCaller ??= readCallers(new Database(process.env.BENCH_DATABASE!, { readonly: true }))
  const caller = findCaller(getHeader(event, 'x-caller'))
  if (!caller) throw createError({ statusCode: 401 })
  event.context.user = { ...caller, permissions: [...caller.reader ? ['posts:read'] : [], ...caller.editor ? ['posts:edit'] : []] }
})
