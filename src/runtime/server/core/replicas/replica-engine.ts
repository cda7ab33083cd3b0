/** The engine of a request that only reads. It chooses a replica at the first query, and uses the primary if the replica fails. */
import type { Engine } from '../../engines/engine'
import { isReplicaError, isUnavailable } from '../../engines/replica-error'
import type { Position } from '../../engines/log-position'
import type { Replicas } from './replicas'

interface ReadEngine extends Engine {
  readonly primary: Engine
  /** See {@link requireCurrentRows}. */
  readonly requireCurrent: () => void
}

/** @param findPosition returns the position of the caller's last write */
export function createReadEngine(
  primary: Engine, replicas: Replicas, findPosition: () => Promise<Position | undefined>,
): Engine {
  let position = findPosition
  let chosen: ReturnType<Replicas['find']> | undefined
  const choose = () => chosen ??= position().then(reached => replicas.find(reached)).catch(() => undefined)
  return Object.freeze({
    ...primary,
    primary,
    requireCurrent() {
      position = replicas.position
      chosen = undefined
    },
    async query(statement) {
      const replica = await choose()
      if (!replica) return primary.query(statement)
      try {
        return await replica.query(statement)
      }
      catch (error) {
        if (!isReplicaError(error)) throw error
        // The rest of the request stays on the primary, which is never older.
        chosen = Promise.resolve(undefined)
        if (isUnavailable(error)) void replica.refreshPosition()
        return primary.query(statement)
      }
    },
  } satisfies ReadEngine)
}

/** Returns the engine of the primary. Everything that a write reads or checks comes from there. The CLI has no engine. */
export function primaryOf(engine: Engine): Engine {
  return (engine as Partial<ReadEngine> | undefined)?.primary ?? engine
}

/** From now on, the session reads no rows that are older than this moment. Call it before storing a response as current. */
export function requireCurrentRows({ engine }: { readonly engine: Engine }): void {
  (engine as Partial<ReadEngine>).requireCurrent?.()
}
