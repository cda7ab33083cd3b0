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

export interface LocalNewsroom extends Newsroom {
  /** Ends the server, and starts another one at the same address. @param meanwhile runs while there is none */
  readonly restart: (meanwhile?: () => unknown, signal?: 'SIGKILL' | 'SIGTERM') => Promise<void>
}

/**
 * @param file the SQLite database: the playground creates and fills it. Its folder contains the uploads, too.
 * @param flags options of Node
 */
export async function startNewsroom(file: string, flags: readonly string[] = []): Promise<LocalNewsroom> {
  const build = await buildFixture('playground')
  const start = (port = '0') => startServer(build, { env: { DATABASE_FILE: file, PORT: port }, cwd: dirname(file), flags })
  let server = await start()
  const { url } = server
  const database = new Database(file, { readonly: true })
  return {
    url,
    request: (path, options) => server.request(path, options),
    rows: (sql, ...values) => database.prepare(sql).all(...values) as never,
    async restart(meanwhile, signal = 'SIGKILL') {
      await server.stop(signal)
      await meanwhile?.()
      server = await start(new URL(url).port)
    },
    async stop() {
      database.close()
      await server.stop('SIGTERM')
    },
  }
}
