/**
 * The replicas of a database. A replica is compared with the primary when a request needs it, once per second at most. It is used as long
 * as it certainly has everything that was committed more than `maxLag` ago: the primary said how far it was then, and the replica is there.
 * No clock of another machine takes part.
 */
import { attempt } from '../awaitable'
import type { Engine, Row } from '../../engines/engine'
import type { Position } from '../../engines/log-position'
import { withTimeout } from '../process/timeout'
import { createReplica, type Replica, type Sample } from './replica'

/** The greatest number of milliseconds between two checks, and for which a request waits for the first one. */
const MAX_INTERVAL = 1_000
/** Milliseconds between the attempts of one check. */
const DELAYS = [5, 20, 50, 100, 200, 300]

export interface Replicas {
  /** Milliseconds that a replica can be behind. */
  readonly maxLag: number
  /** Returns the position of the primary, after everything that has been committed so far. */
  readonly position: () => Promise<Position>
  /** Finds a replica that can be used, and that has replayed everything up to the position. */
  readonly find: (position?: Position) => Promise<Pick<Replica, 'query' | 'refreshPosition'> | undefined>
  /** Logs once that the app has no secret. Without it, the replicas are not used. */
  readonly warnWithoutSecret: () => void
}

export function createReplicas(primary: Engine, engines: readonly Engine[], maxLag: number): Replicas {
  const replication = primary.adapter.replication!
  const replicas = engines.map((engine, index) => createReplica(`Replica ${index + 1}`, engine, replication, maxLag))
  const interval = Math.min(maxLag / 4, MAX_INTERVAL)
  const spacing = Math.max(interval / 4, maxLag / 50)
  let samples: readonly Sample[] = []
  let checking: Promise<void> | undefined
  let checkedAt = -Infinity
  let next = 0
  let isWarned = false
  let isReported = false

  async function position(): Promise<Position> {
    const at = performance.now()
    const [row] = await readWritten()
    const position = replication.read(row?.[0])
    if (position === undefined) throw noPosition()
    const last = samples.at(-1)
    // Writes read positions too, and more often than checks.
    if (!last || at - last.at >= spacing) samples = [...samples.filter(sample => at - sample.at <= 2 * maxLag), { at, position }]
    return position
  }

  async function readWritten(): Promise<readonly Row[]> {
    try {
      return await primary.query({ text: replication.written, values: [] })
    }
    catch (error) {
      throw replication.isUnknown(error) ? noPosition() : error
    }
  }

  /** Logs once that the server has no positions. */
  function noPosition(): Error {
    const message = `[auto-api] Replicas require ${replication.requires} as the primary. All reads use the primary.`
    if (!isReported) console.error(message)
    isReported = true
    return new Error(message)
  }

  async function check(): Promise<void> {
    // Without the primary, a replica can be used until its last position is too old.
    await position().catch(() => {})
    await Promise.all(replicas.map(compare))
  }

  /** A replica needs a moment for what the primary has just written. Without an older position to compare with, it is asked again. */
  async function compare(replica: Replica): Promise<void> {
    for (const delay of [...DELAYS, 0]) {
      await replica.readPosition()
      const now = performance.now()
      replica.compare(samples, now)
      if (replica.isUsable(now) || !replica.isHealthy() || delay === 0) return
      await new Promise(resolve => setTimeout(resolve, delay))
    }
  }

  /** Starts a check if the last one is too old. On workers, a check ends with its request: then the next one starts another. */
  function startCheck(now: number): Promise<void> | undefined {
    if (now - checkedAt < interval) return checking
    checkedAt = now
    const own = check().finally(() => {
      if (checking === own) checking = undefined
    })
    return checking = own
  }

  /** Begins with another replica each time. */
  function usable(): readonly Replica[] {
    const now = performance.now()
    const first = next++ % replicas.length
    return [...replicas.slice(first), ...replicas.slice(0, first)].filter(replica => replica.isUsable(now))
  }

  return {
    maxLag,
    position,
    async find(position) {
      const running = startCheck(performance.now())
      let candidates = usable()
      // Nobody waits for a replica that was down or behind. Without requests, the position of a replica becomes too old.
      if (candidates.length === 0 && running && replicas.some(replica => replica.isHealthy())) {
        await attempt(() => withTimeout(running, MAX_INTERVAL), () => {})
        candidates = usable()
      }
      if (position === undefined) return candidates[0]
      const reached = candidates.find(replica => replica.hasReached(position))
      if (reached || candidates.length === 0) return reached
      await candidates[0]!.refreshPosition()
      return candidates[0]!.hasReached(position) ? candidates[0] : undefined
    },
    warnWithoutSecret() {
      if (isWarned) return
      isWarned = true
      console.error(
        '[auto-api] Replicas need a secret, with which the API encrypts how new the rows of a caller must be. All reads use the primary '
        + 'until you set NUXT_AUTO_API_SECRET (`runtimeConfig.autoApi.secret`).',
      )
    },
  }
}
