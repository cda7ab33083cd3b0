/** Every statement of a tenant's request names the column of the tenant, so a database that is distributed by tenants asks one node. */
import BetterSqlite3 from 'better-sqlite3'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { REQUEST_NAMES, expectCell, type MatrixApp } from '../../support/matrix/run'
import { EXPECTED } from '../../support/matrix/expected'
import { PLUGIN_REQUESTS, pluginCell } from '../../support/matrix/plugin-routes'
import { situationOf } from '../../support/matrix/reasons'
import type { RequestName } from '../../support/matrix/requests'
import { createVisibilityApp } from './app'

/** The statements that better-sqlite3 has prepared for requests, by the first request that needed them. */
const prepared = new Map<string, string>()
let current: string | undefined

const { prepare } = BetterSqlite3.prototype
vi.spyOn(BetterSqlite3.prototype, 'prepare').mockImplementation(function (this: BetterSqlite3.Database, text: string) {
  if (current !== undefined && !prepared.has(text)) prepared.set(text, current)
  return prepare.call(this, text)
})

const VISIBLE = 'nothing hides the row'
const MEMBER = 'a member'

let app: MatrixApp
beforeAll(async () => {
  const opened = await createVisibilityApp()
  app = {
    ...opened,
    async request(path, options) {
      current = `${options.method ?? 'GET'} ${path}`
      const response = await opened.request(path, options)
      current = undefined
      return response
    },
  }
})

/** Statements that find rows without the column of the tenant, with the reason why this is safe. */
const EXCEPTIONS: readonly { readonly pattern: RegExp, readonly reason: string }[] = [
  {
    pattern: /^with recursive "reached"/,
    reason:
      'a cascade begins at the keys of records that an earlier statement has found with the tenant, and follows foreign keys from there',
  },
  {
    pattern: /^select "articles"\."id" from "articles" where \(\("articles"\."id" = likely\(\?\) and cast\("articles"\."cover" as text\)/,
    reason: 'a replaced file is removed only if the record does not have it: the statement names the primary key of the updated record',
  },
]

const REFERENCE = /\b(?:from|join|update) "articles"/g
const CONDITION = /"organization_id" (?:=|in|is) /g
const INSERT = /^insert into "articles" \([^)]*"organization_id"/

function isOfOneTenant(text: string): boolean {
  if (text.startsWith('insert into "articles"')) return INSERT.test(text)
  return (text.match(REFERENCE) ?? []).length <= (text.match(CONDITION) ?? []).length
}

describe('the statements of a member of a tenant', () => {
  beforeAll(async () => {
    for (const name of REQUEST_NAMES) {
      const cell = PLUGIN_REQUESTS.has(name)
        ? pluginCell(PLUGIN_REQUESTS.get(name)!, VISIBLE, MEMBER)
        : EXPECTED[VISIBLE][MEMBER][name as RequestName]
      await expectCell(app, name, situationOf(VISIBLE, MEMBER), cell)
    }
  })

  it('have a condition on the tenant for each time they name the table', () => {
    expect(prepared.size).toBeGreaterThan(40)
    const others = [...prepared].filter(([text]) => !isOfOneTenant(text) && !EXCEPTIONS.some(({ pattern }) => pattern.test(text)))
    expect(others.map(([text, request]) => `${request}: ${text}`)).toEqual([])
  })

  it.each(EXCEPTIONS)('include an exception, because $reason', ({ pattern }) => {
    expect([...prepared.keys()].some(text => pattern.test(text) && !isOfOneTenant(text))).toBe(true)
  })
})
