/**
 * Stores responses for several servers, in Redis or any other storage of unstorage. Each name has a generation in the storage, a random
 * text. A response is stored with the generations from before its rows were read, and is up to date while the storage has the same ones.
 */
import { digest } from 'ohash'
import { createAvailability } from './availability'
import { ANY } from './dependencies'
import type { KeyValue } from './key-value'
import type { Entry, Hit, Miss, Store } from './store'

/** A response as the storage has it. */
interface StoredEntry extends Entry {
  readonly generations: Readonly<Record<string, string>>
}

/** The name that every response depends on. Its generation is raised when the storage returns after a failure. */
const EPOCH = '**'

const MAX_ATTEMPTS = 3

const newGeneration = () => crypto.randomUUID().slice(0, 18)
const toKey = (name: string) => `generation:${name}`

/**
 * @param names returns every name that a response can depend on
 * @param ttl seconds for which responses are stored
 */
export function createSharedStore(storage: KeyValue, names: () => readonly string[], ttl: number): Store {
  const raiseIn = (raised: readonly string[]) => storage.setAll(raised.map(name => [toKey(name), newGeneration()] as const))
  const availability = createAvailability(() => raiseIn([EPOCH]), storage.onDisconnect)
  let all: readonly string[] | undefined
  let creating: Promise<void> | undefined

  /** Reads an entry and all generations at once. Creates the generations that the storage does not have. */
  async function read(key: string): Promise<{ readonly text: string | null, readonly generations: ReadonlyMap<string, string> }> {
    all ??= [...new Set([EPOCH, ANY, ...names()])]
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const [text, ...values] = await storage.getAll([`entry:${key}`, ...all.map(toKey)])
      const missing = all.filter((_, index) => !values[index])
      if (missing.length === 0) return { text: text!, generations: new Map(all.map((name, index) => [name, values[index]!])) }
      // Requests at the same time share one creation. Otherwise, each would read another generation.
      creating ??= storage.create(missing.map(name => [toKey(name), newGeneration()] as const)).finally(() => creating = undefined)
      await creating
    }
    throw new Error('The storage does not keep what is written to it.')
  }

  async function save(
    key: string, entry: Entry, dependencies: readonly string[], generations: ReadonlyMap<string, string>,
  ): Promise<void> {
    // A dependency without a generation would never be outdated.
    if (!dependencies.every(name => generations.has(name))) return
    const own = Object.fromEntries([EPOCH, ...dependencies].map(name => [name, generations.get(name)!]))
    await availability.run(() => storage.set(`entry:${key}`, JSON.stringify({ ...entry, generations: own } satisfies StoredEntry), ttl))
  }

  return {
    find: plain => availability.run(async (): Promise<Hit | Miss> => {
      // The storage has no data of the user in its keys.
      const key = digest(plain)
      const { text, generations } = await read(key)
      const entry = text === null ? undefined : parse(text)
      if (entry && isCurrent(entry, generations, ttl)) return { entry }
      return {
        moment: [...generations.values()].join(),
        save: (entry, dependencies) => save(key, entry, dependencies, generations),
      }
    }),
    raise: async raised => void await availability.run(() => raiseIn(raised), true),
    raiseAll: async () => void await availability.run(() => raiseIn([EPOCH]), true),
  }
}

function isCurrent({ expires, generations: own }: StoredEntry, generations: ReadonlyMap<string, string>, ttl: number): boolean {
  const now = Date.now()
  // The clock of another server can be ahead.
  if (expires <= now || expires > now + ttl * 1000) return false
  return Object.entries(own).every(([name, generation]) => generations.get(name) === generation)
}

/** Returns `undefined` for text that is no entry. */
function parse(text: string): StoredEntry | undefined {
  try {
    const entry = JSON.parse(text) as Partial<StoredEntry> | null
    const isEntry = typeof entry?.text === 'string' && typeof entry.etag === 'string' && typeof entry.expires === 'number'
      && Array.isArray(entry.reads) && typeof entry.generations === 'object'
    return isEntry ? entry as StoredEntry : undefined
  }
  catch {
    return undefined
  }
}
