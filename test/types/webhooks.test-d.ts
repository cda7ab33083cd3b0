/** The types of webhooks: the one-time secret, what clients can write, the composables, `verifyWebhook`, the presets and the options. */
import { describe, expectTypeOf, test } from 'vitest'
import {
  useAutoApiBulkCreate, useAutoApiCreate, useAutoApiGet, useAutoApiList, useAutoApiUpdate, useAutoApiWebhookRetry, useAutoApiWebhookRotate,
  useAutoApiWebhookTest,
} from '../support/composables'
import { createModuleImport } from '../../src/build/module-import'
import { webhooks, type WebhooksOptions } from '../../src/runtime/plugins'
import type * as mysql from '../../src/runtime/plugins/schema-mysql'
import type * as pg from '../../src/runtime/plugins/schema-pg'
import type * as sqlite from '../../src/runtime/plugins/schema-sqlite'
import { verifyWebhook, type VerifiedWebhook, type WebhookPayload } from '../../src/runtime/server/utils'

interface Webhook {
  id: string
  url: string
  events: string[]
  description: string | null
  active: boolean
  owner: string
  organizationId: string | null
  pausedReason: string | null
  failures: number
  createdAt: string
  updatedAt: string
}

interface IssuedWebhook extends Webhook {
  secret?: string
  secretAlreadyIssued?: true
}

declare function valueOf<T>(result: { readonly data: { readonly value: T } }): NonNullable<T>

describe('the secret of a webhook', () => {
  test('is known to the responses that issue it, and to no other', () => {
    const created = valueOf(useAutoApiCreate('webhooks'))
    expectTypeOf(created).toEqualTypeOf<IssuedWebhook>()
    expectTypeOf(valueOf(useAutoApiWebhookRotate('webhooks'))).toEqualTypeOf<typeof created>()
    expectTypeOf(valueOf(useAutoApiBulkCreate('webhooks')).data[0]!.secret).toEqualTypeOf<string | undefined>()
    expectTypeOf(valueOf(useAutoApiGet('webhooks', 'x'))).toEqualTypeOf<Webhook>()
    expectTypeOf(valueOf(useAutoApiList('webhooks')).data).toEqualTypeOf<Webhook[]>()
    // @ts-expect-error an update issues no secret
    void valueOf(useAutoApiUpdate('webhooks')).secret
    // @ts-expect-error only tables of webhooks have secrets
    void valueOf(useAutoApiCreate('labels')).secret
    // @ts-expect-error a webhook has no token
    void created.token
    // @ts-expect-error the secret before a rotation is hidden
    void created.previousSecret
  })

  test('is not that of a token', () => {
    // @ts-expect-error a token has no secret of a webhook
    void valueOf(useAutoApiCreate('apiTokens')).secret
  })
})

describe('a client', () => {
  test('writes the URL, the events, the description and whether it is active', () => {
    const { mutate } = useAutoApiCreate('webhooks')
    mutate({ url: 'https://a.example', events: ['posts.*'] })
    mutate({ url: 'https://a.example', events: ['posts.*'], description: 'shop', active: false })
    // @ts-expect-error the URL is required
    mutate({ events: ['posts.*'] })
    // @ts-expect-error events are a list
    mutate({ url: 'https://a.example', events: 'posts.*' })
    // @ts-expect-error the server sets the owner
    mutate({ url: 'https://a.example', events: [], owner: '1' })
    // @ts-expect-error the server makes the secret
    mutate({ url: 'https://a.example', events: [], secret: 'whsec_x' })
    // @ts-expect-error the server counts failures
    useAutoApiUpdate('webhooks').mutate({ id: 'x', failures: 0 })
  })

  test('tests and rotates webhooks, and retries deliveries', () => {
    useAutoApiWebhookTest('webhooks').mutate('x')
    useAutoApiWebhookRetry('webhookDeliveries').mutate('x')
    // @ts-expect-error a resource without webhooks
    void useAutoApiWebhookRotate('articles')
    // @ts-expect-error deliveries have no receiver of their own
    void useAutoApiWebhookTest('webhookDeliveries')
    // @ts-expect-error a webhook is no delivery
    void useAutoApiWebhookRetry('webhooks')
    // @ts-expect-error nobody creates a delivery
    void useAutoApiCreate('webhookDeliveries')
  })

  test('uses a name that is known only at run time', () => {
    const name: string = 'webhooks'
    useAutoApiWebhookTest(name).mutate('x')
    expectTypeOf(valueOf(useAutoApiWebhookRotate(name)).secret).toEqualTypeOf<unknown>()
  })

  test('reads the delivery of a test and of a retry', () => {
    const record = valueOf(useAutoApiGet('webhookDeliveries', 'x'))
    expectTypeOf(record.status).toEqualTypeOf<'pending' | 'delivered' | 'failed' | 'dead'>()
    expectTypeOf(valueOf(useAutoApiWebhookTest('webhooks')).responseStatus).toEqualTypeOf<unknown>()
    // @ts-expect-error values of rows are hidden
    void record.image
  })
})

describe('verifyWebhook', () => {
  const headers = new Headers()

  test('takes headers of any server, a body, one secret or several, and returns the payload', async () => {
    expectTypeOf(await verifyWebhook({ headers, body: '' }, 'whsec_x')).toEqualTypeOf<VerifiedWebhook>()
    expectTypeOf((await verifyWebhook({ headers: { a: ['b'] }, body: undefined }, ['a', 'b'], { tolerance: 5 })).payload)
      .toEqualTypeOf<WebhookPayload>()
    expectTypeOf((await verifyWebhook<{ n: number }>({ headers, body: '' }, 'a')).payload.n).toBeNumber()
    expectTypeOf<WebhookPayload['data']['record']>().toEqualTypeOf<Readonly<Record<string, unknown>> | undefined>()
  })

  test('refuses a parsed body and a missing secret', () => {
    // @ts-expect-error the body is text
    void verifyWebhook({ headers, body: {} }, 'a')
    // @ts-expect-error a secret is required
    void verifyWebhook({ headers, body: '' })
    // @ts-expect-error not an option
    void verifyWebhook({ headers, body: '' }, 'a', { tolerate: 5 })
  })
})

describe('the presets', () => {
  test('have the same columns in every dialect', () => {
    type Row<T extends { $inferSelect: unknown }> = T['$inferSelect']
    type Hook = Row<ReturnType<typeof sqlite.webhooksTable>>
    type Delivery = Row<ReturnType<typeof sqlite.webhookDeliveriesTable>>
    expectTypeOf<Row<ReturnType<typeof pg.webhooksTable>>>().toEqualTypeOf<Hook>()
    expectTypeOf<Row<ReturnType<typeof mysql.webhooksTable>>>().toEqualTypeOf<Hook>()
    // SQLite has no sequences: the statement counts.
    type Shared<T> = Omit<T, 'position'>
    expectTypeOf<Shared<Row<ReturnType<typeof pg.webhookDeliveriesTable>>>>().toEqualTypeOf<Shared<Delivery>>()
    expectTypeOf<Shared<Row<ReturnType<typeof mysql.webhookDeliveriesTable>>>>().toEqualTypeOf<Shared<Delivery>>()
    expectTypeOf<Hook['events']>().toEqualTypeOf<string[]>()
  })
})

describe('the options', () => {
  test('require findUser, and each has its type', () => {
    webhooks({ findUser: createModuleImport('~~/server/users', 'findUser') })
    webhooks({
      findUser: () => null, resource: 'hooks', deliveries: 'sent', manage: 'admin', timeout: 5, retries: [1, 2], allowHttp: true,
      allowPrivateNetworks: false, onRevoked: 'omit', maxWebhooks: 5, retentionDays: 7, grace: 0,
    } satisfies WebhooksOptions)
    // @ts-expect-error findUser is required
    webhooks({})
    // @ts-expect-error not an option
    webhooks({ findUser: () => null, retry: [1] })
    // @ts-expect-error a number of seconds
    webhooks({ findUser: () => null, timeout: '10s' })
    // @ts-expect-error a list of seconds
    webhooks({ findUser: () => null, retries: 3 })
    // @ts-expect-error not a choice
    webhooks({ findUser: () => null, onRevoked: 'delete' })
    // @ts-expect-error not a user
    webhooks({ findUser: () => 'ann' })
  })
})
