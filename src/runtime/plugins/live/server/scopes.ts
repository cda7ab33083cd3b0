/** Resolves what a caller can read of the resources of a stream. */
import { authorize, callFor, isAuthorized, readableFields, type Selection, type Session } from '../../../server/kit/call'
import { memoized } from '../../../server/kit/process'
import { type ReadableRows, type Resource, resolveReadable } from '../../../server/kit/rows'
import type { LinkScope, Scope } from './group'
import { sidesOf } from './sides'

/** A resource that a caller listens to. */
export interface Subscription {
  readonly scope: Scope
  /** The names of the fields that the caller can read. */
  readonly readable: ReadonlySet<string>
}

/** @throws 401 or 403 for a resource that the caller cannot read. */
export async function subscribe(session: Session, resources: readonly Resource[]): Promise<readonly Subscription[]> {
  const subscriptions: Subscription[] = []
  for (const resource of resources) {
    const call = callFor(session, resource, 'read')
    await authorize(call, resource, ['read'])
    const fields = await readableFields(call, resource, 'read')
    const rows = await resolveReadable(call)
    const links = await linkScopes(session, resource)
    const rules = [rows, ...links.flatMap(({ other, junction }) => [other, ...junction ? [junction] : []])]
    const isJudged = rules.some(rule => rule.isJudged)
    const text = textOf(session, resource, rules, links, isJudged)
    subscriptions.push({ scope: { resource, rows, links, text, isJudged }, readable: namesOf(fields) })
  }
  return subscriptions
}

/** Streams share the set, because callers with the same fields have the same selection. */
const namesOf = memoized((fields: Selection): ReadonlySet<string> => new Set(fields.byName.keys()))

/** Links that the caller cannot read change nothing for it. */
async function linkScopes(session: Session, resource: Resource): Promise<readonly LinkScope[]> {
  const links: LinkScope[] = []
  for (const side of sidesOf(session.api, resource)) {
    const read = [side.other, ...side.junction ? [side.junction] : []]
    const allowed = await Promise.all(read.map(async one => isAuthorized(session, one, 'read')))
    if (allowed.includes(false)) continue
    const [other, junction] = await Promise.all(read.map(one => resolveReadable(callFor(session, one, 'read'))))
    links.push({ side, other: other!, ...junction && { junction } })
  }
  return links
}

/** Rules in code can decide by anything that the caller has. */
function textOf(
  { ctx: { user, permissions, tenant } }: Session, { name }: Resource, rules: readonly ReadableRows[], links: readonly LinkScope[],
  isJudged: boolean,
): string {
  const caller = isJudged ? [user, permissions, tenant] : []
  const sides = links.map(({ side: { table, other } }) => [table, other.name])
  return JSON.stringify([name, caller, sides, ...rules.map(({ text, values }) => [text, values])], (_, value: unknown) => {
    if (typeof value === 'bigint') return { bigint: String(value) }
    if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) }
    return value instanceof Uint8Array ? { bytes: [...value] } : value
  })
}
