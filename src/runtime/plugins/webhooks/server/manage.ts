/** The hooks of the generated routes: what a caller can save, and the secret of a new webhook. */
import { type AutoApiContext, callFor, isAuthorized, isStep, limitsOf, requireSession, type ResourceHooks } from '../../../server/kit/call'
import { invalidBody, invalidQuery, quote, refused, validationFailed } from '../../../server/kit/errors'
import type { IssuedSecrets } from '../../../server/plugin/issued'
import { organizationOf, ownerId } from '../../../server/plugin/owned-rows'
import type { FindUser } from '../../../server/plugin/owner'
import { hasAllRights } from '../../../server/plugin/owner-rights'
import type { WebhooksPolicy } from '../options'
import { EVENTS, parseEvent } from './events'
import type { WebhookRow } from './rows'
import { createSecret } from './sign'
import { takeSlot } from './slots'
import type { Tables } from './tables'
import { urlProblem } from './url'
import type { Queue } from './queue'

export interface ManageOptions {
  readonly tables: () => Tables
  readonly policy: WebhooksPolicy
  readonly issued: IssuedSecrets<WebhookRow>
  readonly queue: () => Queue
  readonly findUser: () => FindUser
}

const MAX_EVENTS = 100

interface Problem {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly code: string
}

export function createHooks({ tables, policy, issued, queue, findUser }: ManageOptions): ResourceHooks {
  return {
    async beforeCreate(data, ctx) {
      // The response of an upsert does not say which of its records are new, so it could not contain their secrets.
      if (ctx.query.onConflict !== undefined) throw invalidQuery('A webhook is created without `onConflict`.', 'onConflict')
      if (isStep(ctx)) throw invalidBody('A webhook is created by a request of its own, because only that response contains the secret.')
      await assertUnlimited(ctx, findUser())
      const owner = ownerId(ctx)
      await assertValid(data, ctx, policy, tables())
      const slot = await takeSlot(ctx, policy.maxWebhooks, tables().webhooks)
      const secret = createSecret()
      issued.prepare(ctx, secret)
      return { ...data, id: crypto.randomUUID(), owner, organizationId: organizationOf(ctx), slot, secret }
    },
    afterCreate: (_record, ctx) => issued.confirm(ctx),
    async beforeUpdate(_id, data, ctx) {
      await assertUnlimited(ctx, findUser())
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
 * A webhook sends what its owner can read, and goes on when a token is revoked. So no token can make one or change it, and no credential of
 * another plugin whose caller has fewer rights than the owner.
 * @throws 403
 */
export async function assertUnlimited(ctx: AutoApiContext, findUser: FindUser): Promise<void> {
  if (limitsOf(ctx) || (ctx.credential && !await hasAllRights(ctx, findUser, 'webhooks'))) throw refused(ctx)
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
