/** Sets the caller, as in the other servers. */
import Database from 'better-sqlite3'
import { readCallers } from '../../../callers'

let findCaller: ReturnType<typeof readCallers> | undefined

export default defineEventHandler((event) => {
  findCaller ??= readCallers(new Database(process.env.BENCH_DATABASE!, { readonly: true }))
  const caller = findCaller(getHeader(event, 'x-caller'))
  if (!caller) throw createError({ statusCode: 401 })
  event.context.user = { ...caller, permissions: [...caller.reader ? ['posts:read'] : [], ...caller.editor ? ['posts:edit'] : []] }
})
