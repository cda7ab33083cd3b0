/**
 * Names of prepared statements. Postgres parses a named statement once for each connection, and it can plan it once. A connection keeps
 * its statements until it closes, and clients can send any number of different queries. So only repeated statements get a name, and only
 * a limited number of them.
 */
import { digest } from 'ohash'
import { findState } from './sql-state'

/** A statement gets a name when it runs for the fourth time. */
const USES = 3
const MAX_NAMES = 256
/** For more statements than this, the uses are not counted. */
const MAX_COUNTED = 1000
/** The names are renewed after a migration. The connections keep the old statements too. */
const MAX_GENERATIONS = 8

/** The result of a prepared statement changed with its tables, after a migration. Postgres has this state for other errors too. */
const CHANGED = '0A000'
/** The connection has no statement of that name, or another one: a pooler gives each transaction another connection. */
const LOST: readonly (string | undefined)[] = ['26000', '42P05']

const NO_POOLER = '[auto-api] initializeDatabase(): the connections lose the statements that `prepare` names, as behind a pooler. The API '
  + 'does not name statements any more. Remove `prepare`.'

export interface PreparedNames {
  /** Returns `undefined` for a statement that is not prepared. Equal names mean equal texts, also between servers. */
  readonly nameOf: (text: string) => string | undefined
  /** Gives the statements new names, or none. Call it if a statement failed with its name, and did not without. */
  readonly renew: (name: string, error: unknown) => void
}

/** Whether a statement can have failed because of its name. Postgres did not run it then. */
export function isNameError(error: unknown): boolean {
  const state = findState(error)
  return state === CHANGED || LOST.includes(state)
}

export function createPreparedNames(): PreparedNames {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()
  let generation = 0
  let isOff = false
  const prefix = () => `auto_api_${generation}_`

  return {
    nameOf(text) {
      const known = names.get(text)
      if (known !== undefined || isOff || names.size >= MAX_NAMES) return known
      const count = (uses.get(text) ?? 0) + 1
      uses.delete(text)
      if (count <= USES) {
        if (uses.size >= MAX_COUNTED) uses.delete(uses.keys().next().value!)
        uses.set(text, count)
        return undefined
      }
      // A name has at most 63 bytes.
      const name = `${prefix()}${digest(text)}`
      names.set(text, name)
      return name
    },
    renew(name, error) {
      // Statements that ran at the same time fail together. The first one renews the names.
      if (isOff || !name.startsWith(prefix())) return
      names.clear()
      generation++
      const isLost = LOST.includes(findState(error))
      isOff = isLost || generation >= MAX_GENERATIONS
      if (isLost) console.warn(NO_POOLER)
    },
  }
}
