/** Sets the caller and the permissions. The module has no tenants: the client filters by its organization. */
import Database from 'better-sqlite3'
import { readCallers } from '../../../callers'

let findCaller: ReturnType<typeof readCallers> | undefined

export default defineEventHandler((event) => {
  findCaller ??= readCallers(new Database(process.env.BENCH_DATABASE!, { readonly: true }))
  const caller = findCaller(getHeader(event, 'x-caller'))
  if (!caller) return
  event.context.nac = {
    ...event.context.nac,
    userId: caller.id,
    resourcePermissions: caller.reader ? [caller.editor ? 'list_all' : 'list', 'read', 'create'] : [],
  }
})
