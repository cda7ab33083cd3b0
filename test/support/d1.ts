/** A D1 in this process: Cloudflare's own runtime, with its limits, over a database in memory. */
import type Database from 'better-sqlite3'
import { Miniflare } from 'miniflare'

type D1Database = Awaited<ReturnType<Miniflare['getD1Database']>>

export interface LocalD1 {
  readonly d1: D1Database
  /** Runs statements separated by semicolons, none of which stands inside a text. */
  readonly exec: (script: string) => Promise<void>
  readonly rows: (text: string) => Promise<unknown[][]>
  readonly close: () => Promise<void>
}

export async function openD1(): Promise<LocalD1> {
  const miniflare = new Miniflare({ modules: true, script: 'export default { fetch: () => new Response() }', d1Databases: { DB: 'test' } })
  const d1 = await miniflare.getD1Database('DB')
  return {
    d1,
    async exec(script) {
      await d1.batch(script.split(';').filter(text => text.trim() !== '').map(text => d1.prepare(text)))
    },
    rows: text => d1.prepare(text).raw() as Promise<unknown[][]>,
    close: () => miniflare.dispose(),
  }
}

/** The tables and rows of a SQLite database, value for value. */
export async function copyTo({ d1 }: LocalD1, client: Database.Database): Promise<void> {
  const tables = client.prepare('select name, sql from sqlite_master where type = \'table\'').all() as { name: string, sql: string }[]
  for (const { name, sql } of tables) {
    await d1.prepare(sql).run()
    const columns = client.pragma(`table_info("${name}")`) as { name: string }[]
    const rows = client.prepare(`select * from "${name}"`).raw().safeIntegers().all() as unknown[][]
    const items = columns.map((_, index) => `iif(value ->> ${index} ->> 0, unhex(value ->> ${index} ->> 1), value ->> ${index} ->> 1)`)
    await d1.prepare(`insert into "${name}" select ${items.join()} from json_each(?)`).bind(`[${rows.map(row => `[${row.map(toItem).join()}]`).join()}]`).run()
  }
}

/** Whether it is bytes, and the value: an integer with all its digits. */
function toItem(value: unknown): string {
  if (value instanceof Uint8Array) return JSON.stringify([1, Buffer.from(value).toString('hex')])
  return `[0,${typeof value === 'bigint' ? value : JSON.stringify(value)}]`
}
