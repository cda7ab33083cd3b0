/** Compares the responses of both worlds: status, headers and bytes. What the docs list as exceptions is no difference. */
import type { Resource } from '../../server/schema/model'
import type { TestResponse } from '../api/client'
import { leaves, passesHidden } from './cascades'
import type { SentRequest } from './sent'
import type { Row, Sight } from './sight'

/** The values of each key in one world: by resource and by the name of a field of its primary key or of a foreign key. */
type Keys = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

/** What the comparison has to know about both worlds. */
export interface Known {
  readonly keys: readonly [Keys, Keys]
  readonly resources: ReadonlyMap<string, Resource>
  /** The names of the fields of unique constraints and primary keys. */
  readonly uniques: ReadonlySet<string>
  readonly sights: readonly [Sight, Sight]
}

export function createKnown([first, second]: readonly [Sight, Sight]): Known {
  const resources = new Map([...first.resources].map(([name, { resource }]) => [name, resource]))
  const uniques = [...resources.values()].flatMap(({ facts }) => [...facts.primaryKey, ...facts.uniques.flat()])
  return { keys: [keysOf(first), keysOf(second)], resources, uniques: new Set(uniques), sights: [first, second] }
}

function keysOf({ resources }: Sight): Keys {
  const all = [...resources.values()]
  const valuesOf = (rows: readonly Row[], name: string) => new Set(rows.map(row => String(row[name])))
  return new Map(all.map(({ resource, rows }) => {
    const referenced = resource.foreignKeys.flatMap(({ columns, foreignColumns, foreignTable }) => {
      const target = all.find(({ resource }) => resource.table === foreignTable)
      return target ? columns.map((name, index) => [name, valuesOf(target.rows, foreignColumns[index]!)] as const) : []
    })
    return [resource.name, new Map([...referenced, ...resource.facts.primaryKey.map(name => [name, valuesOf(rows, name)] as const)])]
  }))
}

/** Headers that differ between any two responses, or that count requests. */
const OTHER_HEADERS = /^(?:date|server-timing|set-cookie|retry-after|(?:x-)?ratelimit.*|x-request-id|traceparent)$/

/** The worlds of the two responses. */
type Compared = readonly [0 | 1, 0 | 1]

/** @returns what differs, for messages. undefined if nothing does */
export function findDifference(
  known: Known, sent: SentRequest, first: TestResponse, second: TestResponse, worlds: Compared = [0, 1],
): string | undefined {
  const outcomes = [first, second].map(({ status, code }) => code === undefined ? String(status) : `${status} ${code}`)
  const difference = outcomes[0] !== outcomes[1]
    ? 'the status differs'
    : differentHeader(first, second) ?? differentBody(known, sent, [first, second], worlds)
  return difference === undefined || isDocumented(known, sent, first, second) ? undefined : difference
}

function differentHeader({ headers }: TestResponse, other: TestResponse): string | undefined {
  const names = new Set([...headers.keys(), ...other.headers.keys()])
  const name = [...names].find(name => !OTHER_HEADERS.test(name) && headers.get(name) !== other.headers.get(name))
  return name === undefined ? undefined : `the header \`${name}\` differs`
}

function differentBody(
  known: Known, sent: SentRequest, [first, second]: readonly [TestResponse, TestResponse], worlds: Compared,
): string | undefined {
  if (first.text === second.text) return undefined
  if (sent.method === 'GET') return 'the body differs'
  const textOf = ({ body }: TestResponse, world: 0 | 1) => {
    const { resources } = known
    const reader = { keys: known.keys[world], resources, sent: new Set(leaves(sent.body)), isLinks: sent.path.includes('/relations') }
    return JSON.stringify(withoutNew(reader, body, resources.get(sent.path.split('/')[1]!)))
  }
  return textOf(first, worlds[0]) === textOf(second, worlds[1]) ? undefined : 'the body differs'
}

interface Reader {
  readonly keys: Keys
  readonly resources: Known['resources']
  /** The values in the body of the request. */
  readonly sent: ReadonlySet<string>
  readonly isLinks: boolean
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/

/**
 * Replaces what differs in each dry run: generated ids, the time, and the number of added links.
 * @param resource the resource of a record. Absent if it is not known, as in a batch
 */
function withoutNew(reader: Reader, value: unknown, resource: Resource | undefined, name = ''): unknown {
  if (Array.isArray(value)) return value.map(item => withoutNew(reader, item, resource, name))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, part]): [string, unknown] => [
      key,
      reader.isLinks && key === 'added' ? '<added>' : withoutNew(reader, part, resource?.relations.get(key)?.target ?? resource, key),
    ]))
  }
  if (typeof value !== 'string' && typeof value !== 'number') return value
  if (isNew(reader, String(value), resource, name)) return '<new>'
  if (isNow(value)) return '<now>'
  // A result of MCP is JSON in text.
  return name === 'text' && String(value).startsWith('{') ? withoutNew(reader, parse(String(value)), undefined) : value
}

/** Whether a value is a generated id: that of no row, or the `deletionId` of a delete. */
function isNew({ keys, resources, sent }: Reader, text: string, resource: Resource | undefined, name: string): boolean {
  if (sent.has(text)) return false
  const existing = resource ? keys.get(resource.name)?.get(name) : undefined
  if (existing) return !existing.has(text)
  const isKey = resource === undefined && [...resources.keys()].some(other => keys.get(other)?.has(name))
  return isKey || name === 'deletionId' || (UUID.test(text) && resource === undefined)
}

const NOW = 60_000

function isNow(value: string | number): boolean {
  const time = typeof value === 'number' ? [value, value * 1000] : TIME.test(value) ? [Date.parse(value)] : []
  return time.some(time => Math.abs(Date.now() - time) < NOW)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  }
  catch {
    return text
  }
}

/**
 * The exceptions of the guide to authorization: a value in a unique constraint or a primary key is in use by a hidden row, a hidden row
 * refers with `restrict` to a deleted one, or a delete reaches visible rows through hidden ones.
 */
function isDocumented({ uniques, sights }: Known, sent: SentRequest, first: TestResponse, second: TestResponse): boolean {
  if (sent.method === 'GET') return false
  const isOneConflict = isConflict(first) !== isConflict(second)
  if (deletes(sent)) return isOneConflict || sights.some(sight => passesHidden(sight, sent))
  return isOneConflict && namesIn(sent.body).some(name => uniques.has(name))
}

const isConflict = ({ text }: TestResponse) => /\\?"CONFLICT\\?"/.test(text)

const deletes = ({ method, body }: SentRequest) => method === 'DELETE' || /"delete"/.test(JSON.stringify(body ?? ''))

function namesIn(body: unknown): string[] {
  if (Array.isArray(body)) return body.flatMap(namesIn)
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, value]) => [name, ...namesIn(value)])
}
