/** Finds the caller from a header and a lookup in memory, for the servers of the peers. */
import Database from 'better-sqlite3'
import { PERMISSIONS } from '../app/server/auth/permissions.ts'

export interface Caller {
  readonly id: number
  readonly organizationId: number
  readonly reader: boolean
  readonly editor: boolean
}

interface UserRow {
  readonly id: number
  readonly organization_id: number
  readonly role: keyof typeof PERMISSIONS
}

/** @throws When `BENCH_DATABASE` does not name the file. */
export function openDatabase(): Database.Database {
  const connection = new Database(process.env.BENCH_DATABASE!, { fileMustExist: true })
  for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'foreign_keys = ON']) connection.pragma(pragma)
  return connection
}

export function readCallers(connection: Database.Database): (header: unknown) => Caller | undefined {
  const rows = connection.prepare<[], UserRow>('select id, organization_id, role from users').all()
  const callers = new Map(rows.map(({ id, organization_id, role }) => [String(id), {
    id,
    organizationId: organization_id,
    reader: PERMISSIONS[role].includes('posts:read'),
    editor: PERMISSIONS[role].includes('posts:edit'),
  }]))
  return header => callers.get(String(header))
}

/** Prints the address of the server. */
export const announce = (address: unknown) => console.info(`http://127.0.0.1:${(address as { port: number }).port}`)
