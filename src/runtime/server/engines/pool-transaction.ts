/** Runs transactions on the connections of a mysql2 pool, and returns each connection in a state that the next transaction can use. */
import { bound } from './bound-member'
import type { DrizzleDatabase } from './drizzle-database'
import { hasLostCluster } from './retry'

interface Connection {
  readonly release: () => void
  readonly destroy: () => void
}

interface Pool { readonly getConnection: () => Promise<Connection> }

interface Session {
  readonly client?: object
  readonly transaction: <T>(run: (tx: DrizzleDatabase) => Promise<T>, config: object) => Promise<T>
}

/**
 * Drizzle keeps the connection if a transaction fails before its first statement, as on a node that has lost its cluster. After some
 * failures, the pool would have no connection left. Such a node also refuses the ROLLBACK, and the next BEGIN would commit what the
 * failed transaction has written: the connection ends then.
 * @returns `undefined` if the client is no pool
 */
export function transactionOfPool<T>(session: Session, run: (tx: DrizzleDatabase) => Promise<T>): Promise<T> | undefined {
  const { client: pool } = session
  return pool && 'getConnection' in pool ? runOnPool(session, pool as Pool, run) : undefined
}

async function runOnPool<T>(session: Session, pool: Pool, run: (tx: DrizzleDatabase) => Promise<T>): Promise<T> {
  let connection: Connection | undefined
  let release = () => {}
  const getConnection = async () => {
    connection = await pool.getConnection()
    release = connection.release.bind(connection)
    return Object.assign(connection, { release: () => {} })
  }
  const client = new Proxy(pool, { get: (target, name) => name === 'getConnection' ? getConnection : bound(target, name) })
  try {
    const own = Object.create(session, { client: { value: client } }) as Session
    const result = await own.transaction(run, { isolationLevel: 'read committed' })
    release()
    return result
  }
  catch (error) {
    if (hasLostCluster(error)) connection?.destroy()
    else release()
    throw error
  }
}
