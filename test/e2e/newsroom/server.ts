/** The built playground on a database of its own, for tests that send HTTP requests to it and read its tables. */
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { buildFixture } from '../support/build'
import { startServer, type Server } from '../support/server'

export interface Newsroom extends Pick<Server, 'url' | 'request'> {
  /** Rows of the database, read without the API. */
  readonly rows: <T = Record<string, unknown>>(sql: string, ...values: unknown[]) => T[]
  readonly stop: () => Promise<void>
}

/** @param file the SQLite database: the playground creates and fills it. Its folder contains the uploads, too. */
export async function startNewsroom(file: string): Promise<Newsroom> {
  const server = await startServer(await buildFixture('playground'), { env: { DATABASE_FILE: file }, cwd: dirname(file) })
  const database = new Database(file, { readonly: true })
  return {
    url: server.url,
    request: server.request,
    rows: (sql, ...values) => database.prepare(sql).all(...values) as never,
    async stop() {
      database.close()
      await server.stop('SIGTERM')
    },
  }
}
