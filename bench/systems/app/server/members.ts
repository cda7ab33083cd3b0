/** Finds the owner of an API token, on each request with one. */
import { eq, sql } from 'drizzle-orm'
import type { FindUser } from 'nuxt-auto-api/plugins'
import { members } from './database/schema'
import { useDatabase } from './utils/database'

const prepare = () => useDatabase().select().from(members).where(eq(members.id, sql.placeholder('id'))).prepare()

let statement: ReturnType<typeof prepare> | undefined

export const findUser: FindUser = (id) => {
  statement ??= prepare()
  return statement.get({ id: Number(id) }) ?? null
}
