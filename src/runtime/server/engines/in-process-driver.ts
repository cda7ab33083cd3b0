/** Recognizes databases that run inside the process of the server. */
import type { Engine } from './engine'

/** Whether the database runs in this process: an SQLite file, or PGlite. Usually only one server uses such a database. */
export function isEmbedded({ blocking }: Engine, db: unknown): boolean {
  const { $client } = db as { readonly $client?: unknown }
  return blocking === true || (typeof $client === 'object' && $client !== null && 'waitReady' in $client)
}
