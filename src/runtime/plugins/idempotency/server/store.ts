/** Reads and writes the table of keys. A key has one row, and one more row for each record that its request has written. */
import { getTableColumns, sql, type Column, type SQL, type Table } from 'drizzle-orm'
import type { Engine } from '../../../server/kit/rows'

/** The columns of `idempotencyKeysTable()`. */
export interface KeyColumns {
  readonly id: Column
  readonly parent: Column
  readonly recordId: Column
  readonly fingerprint: Column
  readonly grant: Column
  readonly status: Column
  readonly body: Column
  readonly createdAt: Column
  readonly expiresAt: Column
}

/** The row of a key. */
export interface StoredKey {
  /** Identifies the request that has committed: a retry has another one. */
  readonly owner: string
  readonly fingerprint: string
  /** What the caller could read when the response was stored. It is null while there is no response. */
  readonly grant: string | null
  readonly status: number | null
  readonly body: string | null
  /** Whether the request committed so long ago that its server has probably stopped. */
  readonly isOld: boolean
}

/** How long a retry waits for the response of a request that has committed, in milliseconds. Then it gets the records as they are. */
export const MAX_WAIT = 2_000

export interface StoredResponse {
  readonly grant: string
  readonly status: number
  readonly body: string | null
}

/** A record that a request has written. The row of a record has no response, so its column `body` names the change. */
export interface WrittenRecord {
  readonly id: string
  readonly kind: string
  readonly resource: string
}

export const toChangeText = ({ kind, resource = '' }: { readonly kind: string, readonly resource?: string }) => `${kind} ${resource}`

export interface KeyStore {
  /** Returns the key if it has not expired. Removes it if it has. */
  readonly find: (engine: Engine, id: string, now: Date) => Promise<StoredKey | undefined>
  /** Returns the records that the request has written. */
  readonly records: (engine: Engine, id: string) => Promise<readonly WrittenRecord[]>
  readonly saveResponse: (engine: Engine, id: string, response: StoredResponse) => Promise<void>
  readonly removeExpired: (engine: Engine, now: Date) => Promise<void>
}

export function createKeyStore(table: Table): KeyStore {
  const columns = getTableColumns(table) as unknown as KeyColumns
  const name = (engine: Engine, column: Column) => sql`${sql.identifier(engine.columnName(column))}`
  const run = async (engine: Engine, statement: SQL) => void await engine.commit([{ ...engine.render(statement), atomic: true }])
  const isExpired = (now: Date) => sql`${columns.expiresAt} <= ${sql.param(now, columns.expiresAt)}`
  return {
    async find(engine, id, now) {
      const selected = sql`${columns.fingerprint}, ${columns.grant}, ${columns.status}, ${columns.body}, ${columns.recordId}`
      const expired = sql`case when ${isExpired(now)} then 1 else 0 end`
      const waited = sql.param(new Date(now.getTime() - MAX_WAIT), columns.createdAt)
      const old = sql`case when ${columns.createdAt} <= ${waited} then 1 else 0 end`
      const rows = await engine.query(engine.render(sql`select ${selected}, ${expired}, ${old} from ${table} where ${columns.id} = ${id}`))
      const [row] = rows
      if (!row) return undefined
      if (Number(row[5]) === 1) {
        await run(engine, sql`delete from ${table} where (${columns.id} = ${id} or ${columns.parent} = ${id}) and ${isExpired(now)}`)
        return undefined
      }
      const [stored, grant, status, body, owner] = row as [string, string | null, number | null, string | null, string]
      return { owner, fingerprint: stored, isOld: Number(row[6]) === 1, grant, status: status === null ? null : Number(status), body }
    },
    async records(engine, id) {
      const selected = sql`${columns.recordId}, ${columns.body}`
      const rows = await engine.query(engine.render(sql`select ${selected} from ${table} where ${columns.parent} = ${id}`))
      return rows.map(([recordId, change]) => {
        // A key of an earlier version names no change.
        const [kind = '', resource = ''] = typeof change === 'string' ? change.split(' ') : []
        return { id: String(recordId), kind, resource }
      })
    },
    saveResponse: (engine, id, { grant, status, body }) => run(engine, sql`update ${table}
      set ${name(engine, columns.grant)} = ${grant}, ${name(engine, columns.status)} = ${status}, ${name(engine, columns.body)} = ${body}
      where ${columns.id} = ${id}`),
    removeExpired: (engine, now) => run(engine, sql`delete from ${table} where ${isExpired(now)}`),
  }
}
