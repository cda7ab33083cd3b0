/** Webhooks: events about changed records for the receivers of users, who get what they can read. Nothing is lost. */
import { and, type Table } from 'drizzle-orm'
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { provideAdmin, provideFeatures } from '../../server/plugin/features'
import { createIssuedSecrets } from '../../server/plugin/issued'
import { imported } from '../../server/plugin/options'
import { createOwnedRows } from '../../server/plugin/owned-rows'
import type { FindUser } from '../../server/plugin/owner'
import { DESCRIBE_RETRY, DESCRIBE_ROTATE, DESCRIBE_TEST } from './describe'
import { resolveOptions, type WebhooksOptions } from './options'
import type { Webhooks } from './server/index'
import { createHooks } from './server/manage'
import type { WebhookRow } from './server/rows'
import { createQueueOfOwners } from './server/slots'
import type { WebhookFeatures } from './shared/admin'

/** The name of the route that replaces the secret of a webhook. */
const ROTATE = 'webhook-rotate'
/** The generated routes that make webhooks. */
const CREATES: ReadonlySet<string> = new Set(['create', 'bulk-create'])

/**
 * Sends events about changed records to the URLs that users register. The generated routes of `resource` make, list, change and delete
 * webhooks. Those of `deliveries` list what was sent.
 * @throws If an option is unknown or a value is invalid. On the server, also if a table lacks a column.
 * @example
 * autoApi: {
 *   plugins: [webhooks({ findUser: createModuleImport('~~/server/users', 'findUser') })],
 * }
 */
export const webhooks = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'webhooks' }, (options: WebhooksOptions) => {
  const policy = resolveOptions(options)
  const { resource, deliveries, manage } = policy
  const issued = createIssuedSecrets<WebhookRow>({ resource, key: 'secret', rotate: ROTATE })
  let server: Webhooks
  let findUser: FindUser
  // What nobody has judged yet is an event that the owner of the webhook perhaps must not learn of.
  const isJudged = (table: Table) => server.tables.deliveries.access.matches(table, 'columns', null)
  const ownRows = (name: 'webhooks' | 'deliveries') => createOwnedRows({ access: () => server.tables[name].access, manage, owner: 'owner' })
  const ownDeliveries = ownRows('deliveries')
  const features: Readonly<Record<string, WebhookFeatures>> = {
    [resource]: { webhooks: 'webhooks' }, [deliveries]: { webhooks: 'deliveries' },
  }
  const inOrder = createQueueOfOwners()
  const route = { method: 'POST', operation: 'update', parameters: [] } as const

  return {
    name: 'webhooks',
    // Loaded here, because nuxt.config loads this file without the server's modules.
    async setup(plugins) {
      provideFeatures(plugins, { webhooks: { resource } })
      provideAdmin(plugins, {
        features: (_session, { name }): WebhookFeatures => features[name] ?? {},
        tools: { webhooks: (_session, described) => Object.hasOwn(described, resource) },
      })
      const { createWebhooks } = await import('./server/index')
      findUser = imported(policy.findUser, 'webhooks.findUser')
      server = createWebhooks({ policy, issued, findUser }, plugins)
    },
    // Their states are written after the response, without a report.
    unreported: [resource, deliveries],
    rows: {
      [resource]: ownRows('webhooks'),
      [deliveries]: (table, ctx) => and(ownDeliveries(table, ctx), isJudged(table)),
    },
    disables: { [deliveries]: ['create', 'restore'] },
    hooks: {
      [resource]: createHooks({ policy, issued, tables: () => server.tables, queue: () => server.queue, findUser: () => findUser }),
      // Clients write no column of a delivery. Its permission `update` is that of a retry.
      [deliveries]: { beforeUpdate: () => server.refuseUpdate() },
    },
    around: (ctx, next, { route }) => ctx.resource === resource && CREATES.has(route) ? inOrder(ctx, next) : next(),
    onResponse: issued.onResponse,
    inCommit: (changes, ctx) => server.inCommit(changes, ctx),
    needs: { images: true },
    onCommit: (_changes, ctx) => server.onCommit(ctx),
    onStop: { begin: () => server?.stop(), end: () => server?.ended() },
    tasks: {
      deliver: { every: 1, run: run => server.deliver(run) },
      retention: { every: 24 * 60, run: run => server.removeOld(run) },
    },
    routes: [
      {
        ...route, name: 'webhook-test', path: '/:resource/:id/test', resources: [resource], describe: DESCRIBE_TEST,
        handler: ctx => server.test(ctx),
      },
      {
        ...route, name: ROTATE, path: '/:resource/:id/rotate', resources: [resource], describe: DESCRIBE_ROTATE,
        // The stored response has no secret, because the plugin adds it after every other one.
        idempotent: true,
        handler: ctx => server.rotate(ctx),
      },
      {
        ...route, name: 'webhook-retry', path: '/:resource/:id/retry', resources: [deliveries], describe: DESCRIBE_RETRY,
        handler: ctx => server.retry(ctx),
      },
    ],
  }
})
