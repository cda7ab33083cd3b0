/** The sessions of Cloudflare D1: a read goes to the nearest replica, and sees at least the state of a bookmark. */
import type { Position } from './log-position'
import type { DrizzleDatabase } from './drizzle-database'

/** The binding of a D1 database, or a session of it. */
interface D1 {
  readonly prepare: (text: string) => { readonly run: () => Promise<unknown> }
  readonly withSession?: (constraint: string) => D1Session
}

interface D1Session extends D1 {
  /** The state that the last statement of the session has seen. */
  readonly getBookmark: () => string | null
}

const bindingOf = ({ session }: DrizzleDatabase): D1 | undefined => (session as { readonly client?: D1 }).client

/** Whether the database is a binding that has sessions. */
export const hasSessions = (db: DrizzleDatabase): boolean => typeof bindingOf(db)?.withSession === 'function'

/**
 * Returns a database whose statements run in one session. The given database stays as it is: an app can keep it for several requests.
 * @param bookmark the state that the session sees at least. Without one, it begins with the nearest replica
 */
export function openSession(db: DrizzleDatabase, bookmark: string | undefined): DrizzleDatabase {
  const client = bindingOf(db)!.withSession!(bookmark ?? 'first-unconstrained')
  const session = Object.create(db.session, { client: { value: client } }) as object
  return Object.create(db, { session: { value: session } }) as DrizzleDatabase
}

/** Asks the primary for a bookmark after everything that has been committed so far. */
export async function readBookmark(db: DrizzleDatabase): Promise<string | undefined> {
  const session = bindingOf(db)!.withSession!('first-primary')
  await session.prepare('select 1').run()
  return session.getBookmark() ?? undefined
}

/** Longer text is no bookmark. They have 59 characters. */
const MAX_LENGTH = 200
/** Bookmarks have one stream. */
const STREAM = 0
/** Keeps zeros at the start of a text. */
const MARK = BigInt(1)
const BITS = BigInt(8)

/** A bookmark as a position. A later bookmark of the same length is a greater text, so it becomes a higher number. */
export function toPosition(bookmark: string): Position | undefined {
  const bytes = new TextEncoder().encode(bookmark)
  if (bytes.length === 0 || bytes.length > MAX_LENGTH) return undefined
  return new Map([[STREAM, bytes.reduce((number, byte) => (number << BITS) | BigInt(byte), MARK)]])
}

/** The bookmark of a position. `undefined` if it stands for a position that the primary did not return. */
export function toBookmark(position: Position): string | undefined {
  let number = position.get(STREAM) ?? MARK
  const bytes: number[] = []
  for (; number > MARK; number >>= BITS) bytes.unshift(Number(number & BigInt(255)))
  const text = new TextDecoder().decode(Uint8Array.from(bytes))
  return number === MARK && /^[\x21-\x7E]+$/.test(text) ? text : undefined
}
