/**
 * Limits the webhooks of one user in one organization. Each of them has one of as many slots, and the column of the slot is unique: of two
 * requests that take the same slot, the database refuses one. So no requests at the same time, on however many servers, exceed the limit.
 */
import { sql } from 'drizzle-orm'
import { type AutoApiContext, requireSession } from '../../../server/kit/call'
import { ApiError, conflict } from '../../../server/kit/errors'
import { organizationOf, ownerId } from '../../../server/plugin/owned-rows'
import { toHex } from '../../../shared/bytes'
import type { WebhookRow } from './rows'
import type { OwnTable } from './tables'

/** The key under which a request remembers its slots: a bulk request takes all of them before the first row is written. */
const TAKEN = 'webhooks:slots'

/** Takes a free slot for a new webhook of the caller. @throws 409 if the caller has none left. */
export async function takeSlot(ctx: AutoApiContext, max: number, { access, table }: OwnTable): Promise<string> {
  const [owner, organization] = [ownerId(ctx), organizationOf(ctx)]
  const { memo } = requireSession(ctx)
  const taken = memo.get(TAKEN) as number[] | undefined ?? []
  memo.set(TAKEN, taken)
  const isOwn = sql`where ${access.matches(table, 'owner', owner)} and ${access.matches(table, 'organizationId', organization)}`
  const rows = await access.select<WebhookRow>(ctx.event, isOwn)
  const free = freeSlots([...rows.map(({ slot }) => numberOf(slot)), ...taken], max)
  if (free.length === 0) throw conflict(`You cannot have more than ${max} webhooks. Delete one first.`)
  // Two servers seldom take the same one.
  const number = free[Math.floor(Math.random() * free.length)]!
  taken.push(number)
  return `${await ownerHash(owner, organization)}:${number}`
}

const numberOf = (slot: string) => Number(slot.slice(slot.lastIndexOf(':') + 1))

/** A database can consider ids equal that differ, such as `a` and `A`. */
async function ownerHash(owner: string, organization: string | null): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify([owner, organization]))))
}

/**
 * The slots that the next webhook can have. If the limit was higher before, slots beyond it are used. Then as many less are left, and those
 * that are left are below a number that no create makes larger: so requests that have read the table at different times do not exceed it.
 */
export function freeSlots(used: readonly number[], max: number): readonly number[] {
  let end = max
  while (end > 0 && end + used.filter(slot => slot >= end).length > max) end--
  const known = new Set(used)
  return Array.from({ length: end }, (_, slot) => slot).filter(slot => !known.has(slot))
}

/** Another server has written a webhook with the slot that a create has taken. */
function isSlotLost(error: unknown, ctx: AutoApiContext): boolean {
  const taken = requireSession(ctx).memo.get(TAKEN) as readonly number[] | undefined
  return taken !== undefined && taken.length > 0 && error instanceof ApiError && error.data.code === 'CONFLICT' && !('fields' in error.data)
}

/** The creates of each owner that this server handles, by organization. Those of one owner follow each other, so none fails needlessly. */
export function createQueueOfOwners() {
  const last = new Map<string, Promise<unknown>>()
  return function inOrder<T>(ctx: AutoApiContext, run: () => Promise<T>): Promise<T> {
    if (ctx.user === null) return run()
    const key = JSON.stringify([ownerId(ctx), organizationOf(ctx)])
    const own = (last.get(key) ?? Promise.resolve()).then(run).catch((error: unknown) => {
      throw isSlotLost(error, ctx) ? conflict('You have made another webhook at the same time. Try again.') : error
    })
    const ended = own.then(() => {}, () => {}).then(() => {
      if (last.get(key) === ended) last.delete(key)
    })
    last.set(key, ended)
    return own
  }
}
