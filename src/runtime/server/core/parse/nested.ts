/** Parses the children and links in the body of a write: `{ lines: { create: [{ … }], update: [{ id, data }], delete: [id] } }`. */
import { isObject } from '../../../shared/is-object'
import { LIMITS } from '../../../shared/limits'
import { CHILD_ACTIONS, type ChildAction, type NestedAction } from '../../../shared/nested'
import { didYouMean } from '../../../shared/suggest'
import { isNestedLinks, type Nested, type NestedChildren, type Resource } from '../../schema/model'
import { toKey } from '../../schema/record-id'
import { andThen, attempt, inTurn, type Awaitable } from '../awaitable'
import { authorize, callFor } from '../access/authorize'
import { ApiError, limitExceeded, notFound, placed, quote, validationFailed, type Issue, type Path } from '../error'
import type { Call } from '../request/session'
import { withoutFields, type BodyKind } from './body'
import { assertOptional } from './if-match'
import { parseNestedLinks } from './nested-links'
import { sampleOf } from './samples'
import type { ChildItems, LinkItems, WriteItem } from './write-item'

/** Parses the body of one record. A promise only if a validation schema is one: a request can have thousands of children. */
export type ParseItem = (body: unknown, call: Call, kind: BodyKind, level: Level) => Awaitable<WriteItem>

/** Where a body is: its place in the body of the request, and the rows that this one can still contain. */
export interface Level {
  readonly depth: number
  readonly budget: { rows: number }
}

export const firstLevel = (): Level => ({ depth: 0, budget: { rows: LIMITS.nestedRows } })

const ROWS = 'nested rows'

/** @throws `LIMIT_EXCEEDED` for too many children of one record, or of all records of a bulk request */
function takeRow({ budget }: Level, { memo }: Call): void {
  const all = (memo.get(ROWS) as number | undefined ?? 0) + 1
  memo.set(ROWS, all)
  if (budget.rows-- === 0) throw limitExceeded(`The body of one record contains at most ${LIMITS.nestedRows} children.`)
  if (all > LIMITS.nestedRowsInAll) throw limitExceeded(`A request contains at most ${LIMITS.nestedRowsInAll} children.`)
}

/** A body, and its values for relations that the resource writes with its records. */
export interface SplitBody {
  readonly own: unknown
  readonly given: readonly (readonly [Nested, unknown])[]
}

export function splitBody(body: unknown, { nested }: Resource): SplitBody {
  if (nested.size === 0 || !isObject(body)) return { own: body, given: [] }
  const entries = Object.entries(body)
  return {
    own: Object.fromEntries(entries.filter(([name]) => !nested.has(name))),
    given: entries.flatMap(([name, value]) => nested.has(name) ? [[nested.get(name)!, value] as const] : []),
  }
}

/**
 * Each child has the permission and the validation of a request of its own.
 * @throws The first error that is no issue of validation, with its place. Issues are returned, with their whole path.
 */
export async function parseChildren(
  given: SplitBody['given'], call: Call, parse: ParseItem, level: Level,
): Promise<Parsed> {
  const issues: Issue[] = []
  const children: ChildItems[] = []
  const links: LinkItems[] = []
  for (const [nested, value] of given) {
    const { relation: { name, target } } = nested
    if (level.depth === LIMITS.nestedLevels)
      throw placed(limitExceeded(`A body has at most ${LIMITS.nestedLevels} levels of children.`), [name])
    const lists = listsOf(nested, value, issues)
    if (isNestedLinks(nested)) {
      links.push(...await parseNestedLinks(nested, lists, call, () => takeRow(level, call), issues))
      continue
    }
    for (const action of CHILD_ACTIONS) {
      const entries = lists[action]
      if (!entries) continue
      const childCall = callFor(call, target, action)
      await placing([name, action], async () => authorize(childCall, target, [action]))
      const items: WriteItem[] = []
      const below = { ...level, depth: level.depth + 1 }
      const list: ChildList = { action, call: childCall, parse, level: below, ...foreignKeyOf(nested, action) }
      await inTurn([...entries.keys()], index => andThen(placing([name, action, index], () => {
        takeRow(level, call)
        return parseChild(entries[index], list)
      }, issues), item => void (item && items.push(item))))
      children.push({ nested, action, items })
    }
  }
  return { ...children.length > 0 && { children }, ...links.length > 0 && { links }, issues }
}

interface Parsed extends Pick<WriteItem, 'children' | 'links'> {
  readonly issues: readonly Issue[]
}

/** Adds the place to an error. @param issues receives those of a body that is not valid, instead of an error */
function placing<T>(path: Path, run: () => Awaitable<T>, issues?: Issue[]): Awaitable<T | undefined> {
  return attempt<T | undefined>(run, (error) => {
    const found = placed(error, path)
    if (!issues || !(found instanceof ApiError) || found.data.code !== 'VALIDATION_FAILED') throw found
    issues.push(...(found.data as unknown as { readonly issues: readonly Issue[] }).issues)
    return undefined
  })
}

type Lists = Readonly<Partial<Record<NestedAction, readonly unknown[]>>>

function listsOf({ relation: { name }, actions }: Nested, value: unknown, issues: Issue[]): Lists {
  const known: readonly NestedAction[] = [...actions]
  const lists: { [A in NestedAction]?: readonly unknown[] } = {}
  if (!isObject(value)) {
    issues.push({ path: [name], message: `Expected an object with ${known.join(', ')}.`, code: 'invalid_type' })
    return lists
  }
  for (const [key, list] of Object.entries(value)) {
    const action = known.find(one => one === key)
    if (!action)
      issues.push({ path: [name, key], message: `Unknown action ${quote(key)}.${didYouMean(key, known)}`, code: 'unrecognized_keys' })
    else if (!Array.isArray(list)) issues.push({ path: [name, action], message: 'Expected a list.', code: 'invalid_type' })
    else lists[action] = list
  }
  return lists
}

/** What the children of one list have in common. */
interface ChildList extends ForeignKey {
  readonly action: ChildAction
  readonly call: Call
  readonly parse: ParseItem
  /** That of the children. */
  readonly level: Level
}

interface ForeignKey {
  readonly isForeign: (name: string) => boolean
  /** Stand for the foreign key of a new child when its body is validated. */
  readonly samples: Readonly<Record<string, unknown>>
}

function foreignKeyOf({ relation: { foreignColumns } }: NestedChildren, action: ChildAction): ForeignKey {
  const names = new Set(foreignColumns.map(({ name }) => name))
  return {
    isForeign: name => names.has(name),
    samples: action === 'create' ? Object.fromEntries(foreignColumns.map(field => [field.name, sampleOf(field)])) : {},
  }
}

function parseChild(entry: unknown, list: ChildList): Awaitable<WriteItem> {
  const { action, call: { resource } } = list
  if (action === 'create') return parseBody(entry, action, list)
  if (action === 'delete') return byId(entry, resource, [])
  if (!isObject(entry)) throw invalidChild([], 'Expected an object with id and data.')
  const { id, data, ...others } = entry as Readonly<Record<string, unknown>>
  const [other] = Object.keys(others)
  const unknown = (key: string) => `Unknown key ${quote(key)}.${didYouMean(key, ['id', 'data'])}`
  if (other !== undefined) throw invalidChild([other], unknown(other), 'unrecognized_keys')
  const target = byId(id, resource, ['id'])
  return andThen(placing(['data'], () => parseBody(data, action, list)), item => ({ ...item, ...target }))
}

const invalidChild = (path: Path, message: string, code = 'invalid_type') => validationFailed([{ path, message, code }])

function byId(id: unknown, resource: Resource, path: Path): WriteItem {
  if (typeof id !== 'string' && typeof id !== 'number') throw invalidChild(path, 'Expected an id.')
  const key = toKey(resource, String(id))
  if (!key) throw notFound()
  assertOptional(resource)
  return { id, key }
}

/** The server sets the foreign key, so a value for it is left out like that of any other column of the server. */
function parseBody(entry: unknown, kind: BodyKind, { call, parse, level, isForeign, samples }: ChildList): Awaitable<WriteItem> {
  const own = isObject(entry) ? { ...withoutForeign(entry, isForeign), ...samples } : entry
  return andThen(parse(own, call, kind, level), ({ data, ...item }) => ({ ...item, ...data && { data: withoutFields(data, isForeign) } }))
}

const withoutForeign = (entry: object, isForeign: (name: string) => boolean): object =>
  Object.keys(entry).some(isForeign) ? Object.fromEntries(Object.entries(entry).filter(([name]) => !isForeign(name))) : entry
