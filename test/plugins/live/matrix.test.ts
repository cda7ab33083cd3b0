/** Every cell of the visibility matrix as events: who receives which signal about a row that is invisible for every reason. */
import { eq } from 'drizzle-orm'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { live } from '../../../src/runtime/plugins'
import type { AutoApiContext } from '../../../src/runtime/server/define'
import { atomicWrites, reportChanges } from '../../../src/runtime/server/utils'
import { articles } from '../../fixtures/visibility/server/database/schema'
import { createVisibilityApp } from '../../scenarios/visibility/app'
import { EXPECTED } from '../../support/matrix/expected'
import { CALLERS, REASONS, situationOf, type CallerName, type Reason, type ReasonName } from '../../support/matrix/reasons'
import { ID, namingTenant } from '../../support/matrix/requests'
import type { Caller } from '../../support/server'
import { idle, settle, startClock, stopClock } from './clock'
import { listen, type Listener } from './feed'

type Db = {
  update: (table: typeof articles) => { set: (values: object) => { where: (where: unknown) => unknown } }
  insert: (table: typeof articles) => { values: (values: object) => unknown }
  delete: (table: typeof articles) => { where: (where: unknown) => unknown }
}

const own = eq(articles.id, ID)
const WRITES = {
  'a readable column changes': ['update', (db: Db) => db.update(articles).set({ cover: null }).where(own), 'changed'],
  'nothing changes': ['update', (db: Db) => db.update(articles).set({ id: ID }).where(own), undefined],
  'a hidden column changes': ['update', (db: Db) => db.update(articles).set({ note: 'internal' }).where(own), undefined],
  'it is deleted': ['purge', (db: Db) => db.delete(articles).where(own), 'gone'],
} as const

/** Code of the app that writes whatever it likes. */
const writer = {
  name: 'writer',
  routes: [{
    method: 'GET',
    path: '/write',
    handler: async (ctx: AutoApiContext) => {
      const [kind, statement] = WRITES[ctx.query.write as keyof typeof WRITES]
      await atomicWrites(ctx, [statement as never, reportChanges(ctx, [{ resource: 'articles', kind, id: ID }])])
      return { status: 200, body: {} }
    },
  }],
}

let app: Awaited<ReturnType<typeof createVisibilityApp>>
let stream: Listener | undefined
beforeAll(async () => {
  app = await createVisibilityApp([live({ maxStreams: 1_000_000, maxStreamsPerCaller: 1_000_000 }), writer])
})
beforeEach(stopClock)
afterEach(async () => {
  stream?.close()
  stream = undefined
  await idle()
  startClock()
})

async function follow(reason: ReasonName, callerName: CallerName) {
  const { namesTenant = false }: Reason = REASONS[reason]
  const { caller, resource, row } = situationOf(reason, callerName)
  await app.putRows({ articles: row ? [{ id: ID, ...row }] : [] })
  const path = `/_live?resources=${resource}`
  const [named, { headers = {} }] = namesTenant ? namingTenant([path], 2) : [path, {} as { headers?: Record<string, string> }]
  stream = await listen(app, new URL(named, 'http://x').search.replace('?resources=', ''), caller as Caller, headers as Record<string, string>)
  await idle()
  return stream
}

const cells = Object.keys(REASONS).flatMap(reason => Object.keys(CALLERS).map(caller =>
  ({ reason: reason as ReasonName, caller: caller as CallerName, get: EXPECTED[reason as ReasonName][caller as CallerName].get })))

describe.each(cells)('when $reason, $caller', ({ reason, caller, get }) => {
  const list = EXPECTED[reason][caller].list
  if (list !== 'done' && list !== 'absent') {
    it(`receives ${list} instead of a stream`, async () => {
      const { status } = await follow(reason, caller)
      expect(status).toBe(Number(list.slice(0, 3)))
    })
    return
  }

  it.each(Object.entries(WRITES))('receives the signals of its rows when %s', async (write, [, , event]) => {
    const { status, events } = await follow(reason, caller)
    expect([status, events.map(({ event }) => event)]).toEqual([200, ['open']])
    expect((await app.request(`/api/write?write=${encodeURIComponent(write)}`, { caller: { user: { id: 9 } } })).status).toBe(200)
    await settle()
    const { resource } = situationOf(reason, caller)
    // Only the articles hide the column.
    const expected = write === 'a hidden column changes' && resource !== 'articles' ? 'changed' : event
    const signals = events.slice(1).map(({ event, data }) => `${event} ${JSON.stringify(data)}`)
    expect(signals).toEqual(get === 'done' && expected ? [`${expected} {"resource":"${resource}","id":"${ID}"}`] : [])
  })
})
