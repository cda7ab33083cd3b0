/** The replicas of Cloudflare D1. D1 chooses the replica, and makes it wait until it has reached the bookmark of a session. */
import { openSession, readBookmark, toBookmark, toPosition } from '../../engines/d1-sessions'
import { toDatabase } from '../../engines/drizzle-database'
import type { Engine } from '../../engines/engine'
import type { Replicas } from './replicas'

/** Markers last for twice as long. D1 says nothing of how far its replicas are behind. */
const MAX_LAG = 5 * 60_000

let isWarned = false

/** @param create creates the engine of a session */
export function createD1Replicas(database: object, create: (db: object) => Engine): Replicas {
  const db = toDatabase(database)
  return {
    maxLag: MAX_LAG,
    async position() {
      const bookmark = await readBookmark(db)
      const position = bookmark === undefined ? undefined : toPosition(bookmark)
      if (!position) throw new Error('[auto-api] D1 returned no bookmark.')
      return position
    },
    async find(position) {
      const bookmark = position && toBookmark(position)
      // The position after a write is not known. Only the primary certainly has it.
      if (position && bookmark === undefined) return undefined
      const { query } = create(openSession(db, bookmark))
      return { query: async statement => query(statement), refreshPosition: () => undefined }
    },
    warnWithoutSecret() {
      if (isWarned) return
      isWarned = true
      console.error(
        '[auto-api] `sessions` needs a secret, with which the API encrypts the bookmark of a caller. All reads use the primary until you '
        + 'set NUXT_AUTO_API_SECRET (`runtimeConfig.autoApi.secret`).',
      )
    },
  }
}
