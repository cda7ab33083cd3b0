/**
 * A D1 database whose replicas are behind, in memory. As on Cloudflare, only the primary writes; a session reads from any replica, which
 * waits until it has reached the bookmark of the session.
 */
import Database from 'better-sqlite3'

interface Written { readonly text: string, readonly values: readonly unknown[] }

export interface LaggingD1 {
  /** What `env.DB` would be. */
  readonly binding: object
  /** Lets a replica apply a part of what it has missed. @param share from 0 to 1 */
  readonly advance: (replica: number, share: number) => void
  /** How many queries have read from a replica that was behind the primary, and from the primary. */
  readonly counts: { behind: number, replica: number, primary: number }
}

/** @param random a number from 0 to 1, for each choice of a replica */
export function openLaggingD1(schema: string, replicas: number, random: () => number): LaggingD1 {
  const open = () => {
    const db = new Database(':memory:')
    db.exec(schema)
    return db
  }
  const primary = open()
  const copies = Array.from({ length: replicas }, () => ({ db: open(), version: 0 }))
  const log: (readonly Written[])[] = []
  const counts = { behind: 0, replica: 0, primary: 0 }

  const bookmarkOf = (version: number) => `${version.toString(16).padStart(8, '0')}-00000000-00004c6d-${'8e61117bf38d7adb71b934ebbf891683'}`
  const versionOf = (bookmark: string) => Number.parseInt(bookmark.slice(0, 8), 16)

  function catchUp(copy: typeof copies[number], version: number): void {
    for (; copy.version < version; copy.version++)
      for (const { text, values } of log[copy.version]!) copy.db.prepare(text).run(...values)
  }

  const isWrite = (text: string) => /^\s*(?:insert|update|delete)\b/i.test(text) || (/^\s*with\b/i.test(text) && /\b(?:insert into|update|delete from)\b/i.test(text))

  interface State { version: number, isFirst: boolean, readonly begins: 'primary' | 'anywhere' }

  /** Returns the database of the next query of a session. */
  function choose(state: State | undefined): Database.Database {
    if (!state || (state.isFirst && state.begins === 'primary')) {
      counts.primary++
      if (state) Object.assign(state, { isFirst: false, version: log.length })
      return primary
    }
    const copy = copies[Math.floor(random() * copies.length)]!
    catchUp(copy, state.version)
    Object.assign(state, { isFirst: false, version: copy.version })
    counts.replica++
    if (copy.version < log.length) counts.behind++
    return copy.db
  }

  function run(db: Database.Database, { text, values }: Written): { results: unknown[], meta: { changes: number } } {
    const statement = db.prepare(text)
    if (!statement.reader) return { results: [], meta: { changes: statement.run(...values).changes } }
    const results = statement.all(...values)
    return { results, meta: { changes: isWrite(text) ? results.length : 0 } }
  }

  function batch(statements: readonly Written[], state: State | undefined) {
    if (!statements.some(({ text }) => isWrite(text))) {
      const db = choose(state)
      return statements.map(statement => run(db, statement))
    }
    const results = primary.transaction(() => statements.map(statement => run(primary, statement))).immediate()
    log.push(statements.filter(({ text }) => isWrite(text)))
    if (state) Object.assign(state, { isFirst: false, version: log.length })
    return results
  }

  function clientOf(state: State | undefined) {
    const written = new WeakMap<object, Written>()
    const prepare = (text: string, values: readonly unknown[] = []): object => {
      const statement = { text, values }
      const all = async () => ({ ...batch([statement], state)[0]!, success: true })
      const prepared = {
        bind: (...bound: unknown[]) => prepare(text, bound),
        all,
        run: all,
        raw: async () => (await all()).results.map(row => Object.values(row as object)),
      }
      written.set(prepared, statement)
      return prepared
    }
    return { prepare: (text: string) => prepare(text), batch: async (list: object[]) => batch(list.map(one => written.get(one)!), state) }
  }

  const withSession = (constraint: string) => {
    const state: State = {
      version: /^[0-9a-f]{8}-/.test(constraint) ? versionOf(constraint) : 0, isFirst: true, begins: constraint === 'first-primary' ? 'primary' : 'anywhere',
    }
    return { ...clientOf(state), getBookmark: () => state.isFirst ? null : bookmarkOf(state.version) }
  }
  return {
    binding: { ...clientOf(undefined), withSession },
    counts,
    advance(replica, share) {
      const copy = copies[replica % copies.length]!
      catchUp(copy, copy.version + Math.floor((log.length - copy.version) * share))
    },
  }
}
