/** The lists of webhooks and of deliveries read an index, however many others have. `check` also wants one that begins with the tenant. */
import Database from 'better-sqlite3'
import { afterEach, expect, it } from 'vitest'
import { createTablesSql } from '../../support/create-tables'
import { openWebhooks, TABLES, type WebhookWorld } from './world'

let world: WebhookWorld
let client: Database.Database
afterEach(async () => {
  await world.close()
  client.close()
})

it.each<[what: string, path: string, plan: string[]]>([
  [
    'the deliveries of a user, the newest first', 'webhookDeliveries?sort=-createdAt&limit=20&count=none',
    ['SEARCH webhook_deliveries USING INDEX webhook_deliveries_owner (organization_id=? AND owner=?)'],
  ],
  [
    'the number of deliveries of a user', 'webhookDeliveries/aggregate?aggregate=count',
    ['SEARCH webhook_deliveries USING INDEX webhook_deliveries_owner (organization_id=? AND owner=?)'],
  ],
  [
    'the webhooks of a user', 'webhooks?sort=-createdAt&count=none',
    ['SEARCH webhooks USING INDEX webhooks_owner (organization_id=? AND owner=?)', 'USE TEMP B-TREE FOR ORDER BY'],
  ],
])('an index finds %s', async (_what, path, plan) => {
  const statements: string[] = []
  client = new Database(':memory:', { verbose: text => void statements.push(String(text)) })
  client.exec(await createTablesSql('sqlite', TABLES))
  world = await openWebhooks({ client })
  expect((await world.server.request('GET', `/api/${path}`, { caller: world.as(1) })).status).toBe(200)
  const [select, ...others] = statements.filter(text => /^select .* from "webhook/i.test(text))
  expect(others).toEqual([])
  const steps = client.prepare(`explain query plan ${select}`).all() as { detail: string }[]
  expect(steps.map(({ detail }) => detail)).toEqual(plan)
})
