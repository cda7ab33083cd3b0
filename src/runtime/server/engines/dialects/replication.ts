/** Reads how far a database has written, and how far a replica has replayed that, on Postgres. */

/** Positions in the log that a replica replays. A later commit has a higher position. */
export interface Replication {
  /** The text of the query that returns the position after everything that the primary has committed. */
  readonly written: string
  /** The text of the query that returns the position up to which a replica has replayed. NULL if the database is no replica. */
  readonly replayed: string
  /** Reads the first value of either query. Returns `undefined` if it is no position. */
  readonly read: (value: unknown) => bigint | undefined
}

export const postgresReplication: Replication = {
  // The position of the last insert, and not of the last write: with `synchronous_commit = off` a commit is written later.
  written: 'select cast(pg_current_wal_insert_lsn() as text)',
  replayed: 'select case when pg_is_in_recovery() then cast(pg_last_wal_replay_lsn() as text) end',
  read: value => typeof value === 'string' ? toPosition(value) : undefined,
}

const PAGE = BigInt(8192)
const PAGE_HEADER = BigInt(24)
/** The smallest segment is 1 MB, and larger ones are multiples of it. */
const SEGMENT = BigInt(1048576)
const SEGMENT_HEADER = BigInt(40)
const HALF = BigInt(32)

/**
 * Converts `16/B374D848` to a number. At the start of a page, Postgres returns the position after the page's header, and a replica gets
 * there only with the next record. No record is that short, so everything before the header is what has been committed.
 */
function toPosition(text: string): bigint | undefined {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/.exec(text) ?? []
  if (high === undefined) return undefined
  const position = BigInt(`0x${high}`) << HALF | BigInt(`0x${low}`)
  if (position % SEGMENT === SEGMENT_HEADER) return position - SEGMENT_HEADER
  return position % PAGE === PAGE_HEADER ? position - PAGE_HEADER : position
}
