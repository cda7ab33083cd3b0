/** The test kit observes in the visibility app what the visibility matrix expects. The two are written independently of each other. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, expectAccess, type TestCaller } from '../../../src/runtime/testing'
import { articlesAuth, closedAuth, tagsAuth } from '../../fixtures/visibility/server/auth'
import { db, put, reset } from '../../fixtures/visibility/server/database/client'
import * as schema from '../../fixtures/visibility/server/database/schema'
import { extendStaff } from '../../fixtures/visibility/server/staff'
import { EXPECTED, type Cell } from '../../support/matrix/expected'
import { CALLERS, situationOf, type Caller, type CallerName, type ReasonName } from '../../support/matrix/reasons'
import type { RequestName } from '../../support/matrix/requests'

const { articles, tags } = schema
const CALLER_NAMES = Object.keys(CALLERS) as CallerName[]

/** A row for each reason that hides a row by its columns. */
const ROWS = [
  'nothing hides the row',
  'the row is another tenant\'s',
  'listFilter refuses the row',
  'rows of a plugin refuse the row',
  'objectLevel refuses the row',
  'the row is in the trash',
  'there is no such row',
] as const satisfies readonly ReasonName[]

const rows = Object.fromEntries(ROWS.map((reason, index) => [reason, index + 1]))

/** The requests that the kit and the matrix have under the same name. The kit compares each write with its bulk request. */
const REQUESTS = [
  'list',
  'list with trash',
  'aggregate',
  'get',
  'get with trash',
  'update',
  'delete',
  'purge',
] as const satisfies readonly RequestName[]

const callerOf = ({ staff, ...caller }: Caller): TestCaller => ({ ...caller, ...staff && { context: { staff } } })

/** The words of the kit for a cell of the matrix. */
function toWords(cell: Cell): string {
  if (cell === 'done') return 'yes'
  if (cell === 'absent') return 'no'
  return cell.replace(/ (?:NOT_FOUND|FORBIDDEN|UNAUTHENTICATED|BULK_FAILED)$/, '')
}

type Callers = Readonly<Record<CallerName, TestCaller>>

const openApi = async (callers: Callers) => createTestApi({
  resources: {
    articles: { schema: articles, authorization: articlesAuth, hiddenFields: ['note'], protectedFields: ['cover'] },
    closed: { schema: articles, authorization: closedAuth, protectedFields: ['cover'] },
    forgotten: { schema: articles, protectedFields: ['cover'] },
    tags: { schema: tags, authorization: tagsAuth },
  },
  database: db,
  engine: 'better-sqlite3',
  schema,
  multiTenancy: {},
  plugins: [(await import('../../fixtures/visibility/server/api-plugins')).default, { name: 'staff', extendContext: extendStaff }],
  callers: { anonymous: {}, ...callers },
})

/** Returns the cells by line and caller. */
async function observe(resource: string, callers: Callers): Promise<Map<string, Map<string, string>>> {
  const text = await expectAccess(await openApi(callers), resource).as(CALLER_NAMES).rows(rows).toMarkdown()
  const [columns = [], ...lines] = text
    .split('\n')
    .filter(line => /^\| /.test(line))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
  return new Map(lines.map(([subject, ...cells]) => [subject!, new Map(cells.map((cell, index) => [columns[index + 1]!, cell]))]))
}

const withCallers = (reason: ReasonName) =>
  Object.fromEntries(CALLER_NAMES.map(name => [name, callerOf(situationOf(reason, name).caller)])) as Record<CallerName, TestCaller>

describe('the test kit observes what the visibility matrix expects', () => {
  beforeAll(() => {
    reset()
    for (const [index, reason] of ROWS.entries()) {
      const { row } = situationOf(reason, 'a member')
      if (row) put('articles', { id: index + 1, ...row } as Record<string, unknown>)
    }
  })

  it.each([
    ['articles', undefined],
    ['articles', 'the permission is missing'],
    ['closed', 'the permission is false'],
    ['forgotten', 'the resource has no authorization'],
  ] as const)('of %s, if %s', async (resource, why) => {
    const cells = await observe(resource, withCallers(why ?? 'nothing hides the row'))
    const differences = ROWS.flatMap(reason => REQUESTS.flatMap(request => CALLER_NAMES.flatMap((caller) => {
      const isHidden = reason !== 'nothing hides the row'
      // A reason of the resource refuses before the row matters. Only a caller with every permission reaches the row.
      const expected = toWords(EXPECTED[why ?? reason][caller][request])
      if (why && expected === 'yes' && isHidden) return []
      const observed = cells.get(`${request}: ${reason}`)?.get(caller)
      return observed === expected ? [] : [`${request}, ${reason}, ${caller}: expected ${expected}, observed ${observed}`]
    })))
    expect(differences).toEqual([])
  })
})
