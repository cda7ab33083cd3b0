/** One replica: how far it has replayed the log of the primary, and whether it can be used. */
import type { Engine, Row, Statement } from '../../engines/engine'
import { hasReached, type Position } from '../../engines/log-position'
import type { Replication } from '../../engines/dialects/replication'
import { describeError } from '../process/log'
import { withTimeout } from '../process/timeout'

/** Milliseconds after which a replica counts as down if it does not say how far it is. */
const TIMEOUT = 2_000
/** Milliseconds for which requests do not ask again. */
const ASK_AGAIN = 20

/** A position of the primary, and the time before which everything up to it was committed. */
export interface Sample {
  readonly at: number
  readonly position: Position
}

export interface Replica {
  /** Whether the replica has everything that was committed more than `maxLag` ago, as far as this server knows. */
  readonly isUsable: (now: number) => boolean
  /** Whether the replica responded to the last check and was not too far behind. */
  readonly isHealthy: () => boolean
  /** Whether the replica has replayed everything up to the position, as far as this server knows. */
  readonly hasReached: (position: Position) => boolean
  /** Asks the replica how far it is. Requests at the same time share the query. */
  readonly readPosition: () => Promise<void>
  /** Asks unless it was asked a moment ago. */
  readonly refreshPosition: () => Promise<void> | undefined
  /** Compares what the replica has replayed with the positions of the primary, newest last. */
  readonly compare: (samples: readonly Sample[], now: number) => void
  /** @throws The error of the query, or the error of a check that fails meanwhile: the query need not wait for its connection. */
  readonly query: (statement: Statement) => Promise<readonly Row[]>
}

/** @param name for messages */
export function createReplica(name: string, engine: Engine, { replayed, read }: Replication, maxLag: number): Replica {
  let reached: Position | undefined
  /** Everything that was committed before this time is on the replica. */
  let upTo = -Infinity
  let askedAt = -Infinity
  let asking: Promise<void> | undefined
  let state: 'used' | 'behind' | 'down' = 'used'
  const pending = new Set<(error: unknown) => void>()

  function enter(next: typeof state, message: string): void {
    if (state === next) return
    const isNewOutage = state === 'used'
    state = next
    if (next === 'used') console.info(`[auto-api] ${name} is used again.`)
    else if (isNewOutage) console.warn(`[auto-api] ${name} ${message} Reads use the primary until it is back.`)
  }

  const has = (position: Position) => reached !== undefined && hasReached(reached, position)

  async function query(statement: Statement): Promise<readonly Row[]> {
    let leave: (error: unknown) => void
    const outage = new Promise<never>((_, reject) => pending.add(leave = reject))
    try {
      return await Promise.race([engine.query(statement), outage])
    }
    finally {
      pending.delete(leave!)
    }
  }

  async function askNow(): Promise<void> {
    try {
      const [row] = await withTimeout(query({ text: replayed, values: [] }), TIMEOUT)
      const position = read(row?.[0])
      if (position === undefined) throw new Error('This database is not a replica: it does not replay the log of another server.')
      reached = position
      if (state === 'down') state = 'behind'
    }
    catch (error) {
      enter('down', `does not respond. ${describeError(error)}`)
      for (const leave of [...pending]) leave(error)
    }
  }

  const readPosition = () => {
    const now = performance.now()
    // On workers, a query ends with the request that began it, and its result is lost.
    if (!asking || now - askedAt > 2 * TIMEOUT) {
      askedAt = now
      const own = askNow().finally(() => {
        if (asking === own) asking = undefined
      })
      asking = own
    }
    return asking
  }

  return {
    isUsable: now => state === 'used' && now - upTo <= maxLag,
    isHealthy: () => state === 'used',
    hasReached: has,
    readPosition,
    refreshPosition: () => performance.now() - askedAt < ASK_AGAIN ? asking : readPosition(),
    compare(samples, now) {
      const known = samples.findLast(({ position }) => has(position))
      if (known) upTo = Math.max(upTo, known.at)
      if (state === 'down') return
      if (now - upTo <= maxLag) enter('used', '')
      // Without such an old position, this server does not know how far the replica is behind.
      else if (samples.some(({ at, position }) => now - at > maxLag && !has(position)))
        enter('behind', `is more than ${maxLag} ms behind.`)
    },
    query,
  }
}
