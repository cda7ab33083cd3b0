/** Reads how far a database has written, and how far a replica has replayed that, on Postgres and MariaDB. */
import type { Position } from '../log-position'
import { findErrno, findState } from '../sql-state'

/** Positions in the log that a replica replays. A later commit has a higher position. */
export interface Replication {
  /** The text of the query that returns the position after everything that the primary has committed. */
  readonly written: string
  /** What the server of a primary must be, for the message if `written` returns no position. */
  readonly requires: string
  /** Whether the server does not know the query. */
  readonly isUnknown: (error: unknown) => boolean
  /** The text of the query that returns the position up to which a replica has replayed. NULL if the database is no replica. */
  readonly replayed: string
  /** Reads the first value of either query. Returns `undefined` if it is no position. */
  readonly read: (value: unknown) => Position | undefined
}

export const postgresReplication: Replication = {
  // The position of the last insert, and not of the last write: with `synchronous_commit = off` a commit is written later.
  written: 'select cast(pg_current_wal_insert_lsn() as text)',
  replayed: 'select case when pg_is_in_recovery() then cast(pg_last_wal_replay_lsn() as text) end',
  requires: 'a Postgres server that streams its log',
  isUnknown: error => ['42883', '0A000'].includes(findState(error) ?? ''),
  read(value) {
    const position = typeof value === 'string' ? toPosition(value) : undefined
    return position === undefined ? undefined : new Map([[0, position]])
  },
}

/** GTIDs of MariaDB. MySQL has other ones, and neither of these variables. */
export const mariadbReplication: Replication = {
  // NULL without a binary log. A commit is in the log before another connection sees it.
  written: 'select case when @@global.log_bin then @@global.gtid_binlog_pos end',
  // A replica of a primary that has written nothing has no position yet.
  replayed: `select case when @@global.gtid_slave_pos <> '' or exists (select 1 from information_schema.global_status
    where variable_name = 'slave_running' and variable_value = 'ON') then @@global.gtid_slave_pos end`,
  requires: 'a MariaDB server with a binary log (`log_bin`)',
  isUnknown: error => findErrno(error) === UNKNOWN_VARIABLE,
  read: value => typeof value === 'string' ? toGtidPosition(value) : undefined,
}

const UNKNOWN_VARIABLE = 1193

/** Converts `0-1-42,1-3-7`: the domain, the server that has written, and the number of the commit in the domain. */
function toGtidPosition(text: string): Position | undefined {
  const position = new Map<number, bigint>()
  for (const gtid of text === '' ? [] : text.split(',')) {
    const [, domain, number] = /^\s*(\d{1,10})-\d{1,10}-(\d{1,20})\s*$/.exec(gtid) ?? []
    if (domain === undefined) return undefined
    position.set(Number(domain), BigInt(number!))
  }
  return position
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
