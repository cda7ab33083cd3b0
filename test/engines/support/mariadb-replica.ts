/** A MariaDB database with its copy on the replica, which a test can hold back, cut off and bring back. */
import { randomUUID } from 'node:crypto'
import { withReplicas } from 'drizzle-orm/mysql-core'
import { drizzle } from 'drizzle-orm/mysql2'
import { createConnection, createPool } from 'mysql2/promise'
import { isReachable, SERVICES } from '../../support/services'
import { openLink, type Replicated } from './replica'

const PRIMARY = { host: '127.0.0.1', port: 3307, user: 'root' }
const REPLICA = { ...PRIMARY, port: 3308 }

export const hasMariadbReplica = await isReachable(SERVICES.find(({ name }) => name === 'mariadb_replica')!)

const POSITION = /@@global\.gtid/

/** @param schema the SQL of the tables */
export async function openMariadb(schema: string): Promise<Replicated> {
  const database = `replicas_${randomUUID().replaceAll('-', '')}`
  const client = await createConnection({ ...PRIMARY, multipleStatements: true })
  // The whole replica can be held back. No two files do that at the same time.
  await client.query(`select get_lock('replica', 600)`)
  await client.query(`create database ${database} character set utf8mb4 collate utf8mb4_nopad_bin; use ${database}; ${schema}`)
  const observer = await createConnection({ ...REPLICA, multipleStatements: true })
  const first = async (on: typeof client, sql: string) => ((await on.query({ sql, rowsAsArray: true }))[0] as unknown[][])[0]![0]

  const catchUp = async () => {
    const position = String(await first(client, 'select @@global.gtid_binlog_pos'))
    if (await first(observer, `select master_gtid_wait('${position}', 20)`) !== 0) throw new Error('The replica does not catch up.')
  }
  await catchUp()

  const log = { primary: [] as string[], replica: [] as string[] }
  const loggerOf = (name: 'primary' | 'replica') => ({ logQuery: (text: string) => void log[name].push(text) })
  const link = await openLink(REPLICA.port)
  const poolOf = (server: typeof PRIMARY) => createPool({ ...server, database, connectionLimit: 12, connectTimeout: 5_000 })
  const pools = [
    poolOf(PRIMARY),
    poolOf({ ...REPLICA, port: link.port }),
    poolOf(PRIMARY),
    poolOf({ ...REPLICA, port: link.port }),
  ] as const
  const [primary, replica, primary2, replica2] = pools.map((pool, index) =>
    drizzle({ client: pool, logger: loggerOf(index % 2 === 0 ? 'primary' : 'replica') }),
  )
  const everything = () => ({ primary: log.primary.splice(0), replica: log.replica.splice(0) })
  return {
    database,
    primary: primary!,
    replica: replica!,
    other: { primary: primary2!, replica: replica2! },
    withReplicas: () => withReplicas(primary! as never, [replica! as never]) as object,
    isPosition: text => POSITION.test(text),
    link,
    exec: async sql => void await client.query(sql),
    all: async sql => (await client.query({ sql, rowsAsArray: true }))[0] as unknown[][],
    sent() {
      const { primary, replica } = everything()
      const isOwn = (text: string) => !POSITION.test(text)
      return { primary: primary.filter(isOwn), replica: replica.filter(isOwn) }
    },
    everything,
    catchUp,
    rotateLog: async () => void await client.query('flush binary logs'),
    pause: async () => void await observer.query('stop slave sql_thread'),
    resume: async () => void await observer.query('start slave sql_thread'),
    async close() {
      await observer.query('start slave')
      await link.stop()
      for (const pool of pools) await pool.end()
      await client.query(`drop database ${database}`)
      await client.end()
      await observer.end()
    },
  }
}
