/** The hooks of the generated routes: what a caller can save, and the secret of a new webhook. */
import { sql } from 'drizzle-orm'
import { type AutoApiContext, callFor, isAuthorized, isStep, limitsOf, requireSession, type ResourceHooks } from '../../../server/kit/call'
import { conflict, invalidBody, invalidQuery, quote, refused, validationFailed } from '../../../server/kit/errors'
import type { IssuedSecrets } from '../../../server/plugin/issued'
import { organizationOf, ownerId } from '../../../server/plugin/owned-rows'
import type { WebhooksPolicy } from '../options'
import { EVENTS, parseEvent } from './events'
import { webhookColumns, type WebhookRow } from './rows'
import { createSecret } from './sign'
import type { Tables } from './tables'
import { urlProblem } from './url'
import type { Queue } from './queue'

export interface ManageOptions {
  readonly tables: () => Tables
  readonly policy: WebhooksPolicy
  readonly issued: IssuedSecrets<WebhookRow>
  readonly queue: () => Queue
}

const MAX_EVENTS = 100

interface Problem {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly code: string
}

export function createHooks({ tables, policy, issued, queue }: ManageOptions): ResourceHooks {
  return {
    async beforeCreate(data, ctx) {
      // The response of an upsert does not say which of its records are new, so it could not contain their secrets.
      if (ctx.query.onConflict !== undefined) throw invalidQuery('A webhook is created without `onConflict`.', 'onConflict')
      if (isStep(ctx)) throw invalidBody('A webhook is created by a request of its own, because only that response contains the secret.')
      assertUnlimited(ctx)
      const owner = ownerId(ctx)
      await assertValid(data, ctx, policy, tables())
      await assertBelowLimit(owner, ctx, policy, tables())
      const secret = createSecret()
      issued.prepare(ctx, secret)
      return { ...data, id: crypto.randomUUID(), owner, organizationId: organizationOf(ctx), secret }
    },
    afterCreate: (_record, ctx) => issued.confirm(ctx),
    async beforeUpdate(_id, data, ctx) {
      assertUnlimited(ctx)
      const rotated = issued.takeRotation(ctx)
      const updatedAt = new Date()
      if (rotated) return { ...data, updatedAt }
      await assertValid(data, ctx, policy, tables())
      // Who switches it on again begins anew.
      return { ...data, updatedAt, ...data.active === true && { pausedReason: null, failures: 0 } }
    },
    async afterDelete(id, ctx) {
      if (!ctx.dryRun) await queue().abandon(ctx.event, String(id))
    },
  }
}

/**
 * A webhook sends what its owner can read, and goes on when a token is revoked. So no token can make one or change it.
 * @throws 403
 */
export function assertUnlimited(ctx: AutoApiContext): void {
  if (limitsOf(ctx)) throw refused(ctx)
}

/** @throws `VALIDATION_FAILED` for a URL that cannot be reached, and for events that do not exist or that the caller cannot read. */
async function assertValid(
  { url, events }: Readonly<Record<string, unknown>>, ctx: AutoApiContext, rules: WebhooksPolicy, { names }: Tables,
): Promise<void> {
  const problem = url === undefined ? undefined : urlProblem(url, rules)
  const issues: Problem[] = problem ? [{ path: ['url'], message: `The URL ${problem}`, code: 'url' }] : []
  if (events !== undefined) issues.push(...await eventProblems(events, ctx, names))
  if (issues.length > 0) throw validationFailed(issues)
}

async function eventProblems(events: unknown, ctx: AutoApiContext, own: ReadonlySet<string>): Promise<readonly Problem[]> {
  if (!Array.isArray(events) || events.length === 0 || events.length > MAX_EVENTS)
    return [{ path: ['events'], message: `Use a list of 1 to ${MAX_EVENTS} events, such as \`posts.created\`.`, code: 'events' }]
  const session = requireSession(ctx)
  const problems: Problem[] = []
  for (const [index, event] of (events as unknown[]).entries()) {
    const parsed = typeof event === 'string' ? parseEvent(event) : undefined
    const resource = parsed && !own.has(parsed.resource) ? session.api.resources.get(parsed.resource) : undefined
    const isReadable = resource && !resource.readOnly && await isAuthorized(callFor(session, resource, 'read'), resource, 'read')
    if (isReadable) continue
    const message = parsed
      ? `You cannot use events of ${quote(parsed.resource)}: you must be able to read the resource, and views have no events.`
      : `An event is a resource and one of ${[...EVENTS, '*'].join(', ')}, such as \`posts.created\`.`
    problems.push({ path: ['events', index], message, code: 'events' })
  }
  return problems
}

/** The key under which a request remembers how many webhooks it makes: a bulk request checks all of them before the first is written. */
const MADE = 'webhooks:made'

/** @throws 409 if the caller has as many webhooks as one can have. Requests at the same time can exceed it by some. */
async function assertBelowLimit(
  owner: string, ctx: AutoApiContext, { maxWebhooks }: WebhooksPolicy, { webhooks }: Tables,
): Promise<void> {
  const { table, access } = webhooks
  const isOwn = sql`where ${access.matches(table, 'owner', owner)} and ${access.matches(table, 'organizationId', organizationOf(ctx))}`
  const found = await access.select(ctx.event, sql`${isOwn} order by ${webhookColumns(table).id} limit ${sql.raw(String(maxWebhooks))}`)
  const { memo } = requireSession(ctx)
  const made = (memo.get(MADE) as number | undefined ?? 0) + 1
  memo.set(MADE, made)
  if (found.length + made > maxWebhooks) throw conflict(`You have ${maxWebhooks} webhooks, and cannot have more. Delete one first.`)
}
