/** The row of a view in the visibility matrix: reads show and hide the same rows as those of the table, and every write returns 405. */
import { ne } from 'drizzle-orm'
import { sqliteView } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { OPERATIONS } from '../../../src/runtime/shared/operations'
import { ROUTES, type Route } from '../../../src/runtime/shared/routes'
import { articlesAuth } from '../../fixtures/visibility/server/auth'
import { client, db, dump, put, reset } from '../../fixtures/visibility/server/database/client'
import { articles } from '../../fixtures/visibility/server/database/schema'
import { extendStaff } from '../../fixtures/visibility/server/staff'
import { EXPECTED } from '../../support/matrix/expected'
import { CALLERS, REASONS, situationOf, type CallerName, type Reason, type ReasonName } from '../../support/matrix/reasons'
import { changesBetween, ID, REQUESTS, type RequestName, type Rows } from '../../support/matrix/requests'
import { expectCell, type MatrixApp } from '../../support/matrix/run'
import { createServer, type Caller } from '../../support/server'

const articleList = sqliteView('article_list').as(qb => qb.select().from(articles))

const { permissions: _writes, ...rules } = articlesAuth as unknown as NonNullable<ResourceRegistration['authorization']>
const NAME = 'articleList'

let app: MatrixApp
beforeAll(async () => {
  const putRows: MatrixApp['putRows'] = async (rows) => {
    reset()
    client.exec('drop view if exists article_list; create view article_list as select * from articles')
    for (const [table, list] of Object.entries(rows)) for (const row of list) put(table, row as Record<string, unknown>)
    return dump() as Rows
  }
  await putRows({})
  const { request } = await createServer({
    db,
    registrations: [{
      name: NAME, schema: articleList, key: 'id', hiddenFields: ['note'],
      authorization: { ...rules, permissions: { read: 'articles', viewDeleted: 'articles' } },
    }],
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    plugins: [
      {
        name: 'titles',
        rows: {
          [NAME]: (table: typeof articles, ctx: { user: { role?: string } | null }) =>
            ctx.user?.role === 'chief' ? undefined : ne(table.status, 'withheld'),
        },
      },
      { name: 'staff', extendContext: extendStaff },
    ],
  })
  app = {
    request: (path, { method = 'GET', caller, ...options }) => request(method, path, { ...options, caller: caller as Caller }),
    rows: async () => dump() as Rows,
    putRows,
  }
})

// Other files of the worker use the database too.
afterAll(() => void client.exec('drop view article_list'))

const REASON_NAMES = (Object.keys(REASONS) as ReasonName[]).filter(name => (REASONS[name] as Reason).resource === undefined)
const CALLER_NAMES = Object.keys(CALLERS) as CallerName[]
const READS = ['list', 'list by cursor', 'list with trash', 'aggregate', 'get', 'get with trash', 'get if none matches'] as const
const OPERATION_OF = new Map((ROUTES as readonly Route[]).map(({ name, operation }) => [name, operation]))
/** The requests that name the resource of the view. */
const WRITES = (Object.keys(REQUESTS) as RequestName[]).filter((name) => {
  const operation = OPERATION_OF.get(REQUESTS[name].route)
  return operation && OPERATIONS.includes(operation) && !['read', 'aggregate'].includes(operation) && !name.endsWith('from the other side')
})

describe.each(REASON_NAMES)('when %s', (reason) => {
  it.each(CALLER_NAMES)('%s reads what the matrix says about the table', async (caller) => {
    const situation = { ...situationOf(reason, caller), resource: NAME }
    for (const name of READS) await expectCell(app, name, situation, EXPECTED[reason][caller][name])
  })

  it.each(CALLER_NAMES)('%s gets 405 for every write, and changes nothing', async (caller) => {
    const situation = situationOf(reason, caller)
    const before = await app.putRows({ articles: situation.row ? [{ id: ID, ...situation.row }] : [] })
    for (const name of WRITES) {
      const [path, options] = REQUESTS[name].target(NAME)
      const { status, body } = await app.request(`/api${path}`, { ...options, caller: situation.caller })
      expect([name, status, body.data.code]).toEqual([name, 405, 'METHOD_NOT_ALLOWED'])
    }
    expect(changesBetween(before, await app.rows())).toEqual([])
  })
})

it('has every write of the matrix', () => {
  expect(WRITES).toHaveLength(18)
})
