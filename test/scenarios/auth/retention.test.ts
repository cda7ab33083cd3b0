/** The trash keeps rows for the `retentionDays` of their resource. */
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import { openDesk, type Desk, type DeskOptions } from '../../support/desk'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 31)

let desk: Desk

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})

afterEach(() => {
  desk.client.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const keeping = (retentionDays?: number, more: ResourceAuth = {}): ResourceAuth => ({
  ...more,
  softDelete: { ...(retentionDays !== undefined && { retentionDays }) },
})
const ids = (table = 'articles') => desk.client.prepare(`select id from ${table} order by id`).pluck().all()

/** Rows by their id: days in the trash, `null` for one that is active. */
async function openWith(rows: Record<number, number | null>, options: DeskOptions = {}): Promise<void> {
  desk = await openDesk({ rows: '', auth: { articles: keeping(30) }, ...options })
  for (const [id, days] of Object.entries(rows)) {
    desk.client
      .prepare('insert into articles (id, organization_id, title, deleted_at, deletion_id) values (?, 1, \'t\', ?, ?)')
      .run(id, days === null ? null : NOW - days * DAY, days === null ? null : `d${id}`)
  }
}

/** As Nitro runs it. */
const runTask = async () => (await (await import('../../../src/runtime/server/tasks/trash')).default.run()).result

describe('the task auto-api:trash', () => {
  it('purges the rows that have been in the trash for longer than retentionDays, and no others', async () => {
    await openWith({ 1: null, 2: 0, 3: 29.9, 4: 30, 5: 30.1, 6: 400 })
    expect(await runTask()).toEqual({ articles: 2 })
    expect(ids()).toEqual([1, 2, 3, 4])
  })

  it('does not purge resources without retentionDays or without soft delete', async () => {
    await openWith({ 1: 400, 2: null }, { auth: { articles: keeping(), tags: keeping(1), comments: null } })
    desk.client.exec(`insert into tags values (1, 'red'); insert into comments values (1, 1, 2, 'old', 1, 'd')`)
    expect(await runTask()).toEqual({})
    expect([ids(), ids('tags'), ids('comments')]).toEqual([[1, 2], [1], [1]])
  })

  it('purges rows of every tenant, including rows that no caller can see or purge', async () => {
    await openWith(
      { 1: 31 },
      { auth: { articles: keeping(30, { permissions: { purge: false }, objectLevel: () => false, listFilter: () => sql`1 = 0` }) } },
    )
    desk.client.exec(`update articles set organization_id = 2`)
    expect(await runTask()).toEqual({ articles: 1 })
    expect(ids()).toEqual([])
  })

  it('purges the dependents of a row, active or deleted', async () => {
    await openWith({ 1: 31, 2: 1 })
    desk.client.exec(
      `insert into tags values (1, 'red'); insert into article_tags values (1, 1), (2, 1); insert into comments values (1, 1, 1, 'a', 1000, 'd1'), (2, 2, 1, 'b', null, null), (3, 1, 2, 'c', null, null)`,
    )
    expect(await runTask()).toEqual({ articles: 1 })
    expect([ids(), ids('comments'), desk.client.prepare('select article_id from article_tags').pluck().all()]).toEqual([[2], [3], [2]])
  })

  it('keeps a row that other rows refer to, logs it, and purges the others', async () => {
    await openWith({ 1: 31, 2: 31, 3: 31 })
    desk.client.exec(`insert into invoices values (1, 1, 2)`)
    expect(await runTask()).toEqual({ articles: 2 })
    expect([ids(), ids('invoices')]).toEqual([[2], [1]])
    expect(vi.mocked(console.warn).mock.calls.map(([message]) => message)).toEqual([expect.stringContaining('articles')])
  })

  it('purges nothing when it runs again', async () => {
    await openWith({ 1: 31 })
    expect([await runTask(), await runTask()]).toEqual([{ articles: 1 }, { articles: 0 }])
  })

  it('purges more rows than one batch holds, blocked ones among them', async () => {
    await openWith({})
    desk.client.exec(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100) insert into articles (id, organization_id, title, deleted_at) select i, 1, 't', 1000 from n`,
    )
    desk.client.exec(`insert into invoices values (1, 1, 1), (2, 1, 700)`)
    expect(await runTask()).toEqual({ articles: 1098 })
    expect(ids()).toEqual([1, 700])
  })

  it('runs no hooks', async () => {
    const hook = vi.fn()
    await openWith({ 1: 31 }, { hooks: { articles: { beforePurge: hook, afterPurge: hook } } })
    expect(await runTask()).toEqual({ articles: 1 })
    expect(hook).not.toHaveBeenCalled()
  })
})
