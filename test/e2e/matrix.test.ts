/** The visibility matrix: every generated route, asked by every kind of caller, for a row that is invisible for every reason there is, on a built Nuxt server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../src/runtime/shared/routes'
import { startArchive, type Answered, type App } from './app'
import { EXPECTED, type Cell } from './matrix/expected'
import { CALLERS, REASONS, rowOf, situationOf, twinOf, type CallerName, type Reason, type ReasonName, type Situation } from './matrix/reasons'
import { describeOwnRoutes } from './own-routes'
import { changesBetween, ID, namingTenant, REQUESTS, type Change, type Request, type RequestName } from './matrix/requests'

let app: App

beforeAll(async () => {
  app = await startArchive()
})

afterAll(() => app?.stop())

const reasons = Object.keys(REASONS) as ReasonName[]
const requests = (Object.entries(REQUESTS) as [RequestName, Request][]).map(([name, request]) => ({ name, request }))
const callers = Object.keys(CALLERS) as CallerName[]
const ran = { cells: 0, refused: 0, twins: 0 }

/** A route, a reason or a caller more makes it grow; one less must not go unseen. */
const CELLS_AT_LEAST = 2816

describe('the matrix', () => {
  it.each(ROUTES)('asks by every generated route: $method $path', ({ name }) => {
    expect(requests.map(({ request }) => request.route)).toContain(name)
  })

  it.each(requests)('asks by generated routes, and those of plugins, only: $name', ({ request }) => {
    expect([...ROUTES.map(({ name }) => name), 'plugin']).toContain(request.route)
  })

  it.each(reasons)('says what every request of every caller gets when %s', (reason) => {
    expect(Object.keys(EXPECTED[reason]).sort()).toEqual([...callers].sort())
    for (const caller of callers) expect(Object.keys(EXPECTED[reason][caller]).sort()).toEqual(Object.keys(REQUESTS).sort())
  })
})

describe.each(reasons.flatMap(reason => callers.map(caller => ({ reason, caller }))))('when $reason, for $caller', ({ reason, caller }) => {
  it.each(requests.map(({ name }) => [name, EXPECTED[reason][caller][name]] as const))('%s: %s', async (name, cell) => {
    const { namesTenant = false }: Reason = REASONS[reason]
    ran.cells++
    const asked = await ask(name, situationOf(reason, caller), reason, namesTenant)
    if (cell === 'done') return expectDone(name, asked)

    ran.refused++
    expectNotSeen(name, cell, asked)
    // The same request may: the refusal was for this reason and no other.
    ran.twins++
    expectDone(name, await ask(name, twinOf(reason)))
  })
})

describe('the run', () => {
  it('visits every cell, and the twin of every cell that refuses', () => {
    console.info(`visibility matrix: ${ran.cells} cells (${reasons.length} reasons × ${callers.length} callers × ${requests.length} requests), ${ran.refused} of them refuse, each with a twin that may`)
    expect(ran.cells).toBe(reasons.length * callers.length * requests.length)
    expect(ran.cells).toBeGreaterThanOrEqual(CELLS_AT_LEAST)
    expect(ran.twins).toBe(ran.refused)
  })
})

describe('beside the app', () => describeOwnRoutes(() => app, '/api'))

interface Asked {
  readonly answer: Answered
  readonly situation: Situation
  /** The row as it was. */
  readonly was: object
  readonly changes: readonly Change[]
}

async function ask(name: RequestName, situation: Situation, reason?: ReasonName, namesTenant = false): Promise<Asked> {
  const request: Request = REQUESTS[name]
  const row = rowOf(situation, reason, request.ofTrash === true)
  const link = row && request.linked ? [{ article_id: ID, tag_id: 1 }] : []
  const before = await app.putRows({ articles: row ? [{ id: ID, ...row }] : [], article_tags: link })
  const target = request.ask(situation.resource)
  const [path, options] = namesTenant ? namingTenant(target, 2) : target
  const answer = await app.ask(`/api${path}`, { ...options, caller: situation.caller })
  return { answer, situation, was: before.articles?.[ID] ?? {}, changes: changesBetween(before, await app.rows()) }
}

function expectNotSeen(name: RequestName, cell: Cell, { answer, situation, changes }: Asked): void {
  const { status, shows }: Request = REQUESTS[name]
  if (cell === 'absent') expect({ status: answer.status, shows: shows?.(answer, situation.resource) ?? false }).toEqual({ status, shows: false })
  else expect(`${answer.status} ${answer.body.data?.code}`).toBe(cell)
  expect(changes).toEqual([])
}

function expectDone(name: RequestName, { answer, situation, was, changes }: Asked): void {
  const { status, changes: expected, shows }: Request = REQUESTS[name]
  expect({ status: answer.status, ...answer.status >= 400 && { body: answer.body } }).toEqual({ status })
  if (shows) expect(shows(answer, situation.resource)).toBe(true)
  expect(changes).toEqual(expected(was, tenantOf(situation.caller)))
}

function tenantOf({ tenantId, user, staff }: Situation['caller']): number {
  return tenantId ?? staff?.tenant ?? Number(user?.organizationId)
}
