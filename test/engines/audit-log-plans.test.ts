/** On Postgres a page of the audit log checks the records of its own entries, and does not read all records of the tenant. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { activityFeed, auditLog } from '../../src/runtime/plugins/index'
import { DRIVER_CASES, isAvailable } from './support/databases'
import { openLedger, type Ledger } from './support/ledger'

const AUDITOR = { user: { id: 1, organizationId: 1 }, permissions: ['auditor', 'activity:read'] }

const ROWS = `
  insert into articles (organization_id, title) select 1, 'article ' || n from generate_series(1, 20000) as n;
  create index articles_tenant on articles (organization_id, id);
  insert into audit_log (id, at, kind, resource, record_id, tenant_id, columns)
    select cast('018bcfe5-6800-7000-8000-' || lpad(to_hex(n), 12, '0') as uuid), now(), 'create', 'articles', cast(n as text), '1', '["title"]'
    from generate_series(1, 20000) as n;
  analyze;
`

describe.each(DRIVER_CASES.filter(({ name }) => name === 'node-postgres'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('with 20,000 entries', () => {
    let ledger: Ledger
    beforeAll(async () => {
      ledger = await openLedger(engineCase, {
        auditLog: true,
        plugins: () => [auditLog(), activityFeed({ actor: { resource: 'tags', label: 'name' }, labels: { articles: 'title' } })],
      })
      await ledger.opened.exec(ROWS)
    })
    afterAll(() => ledger?.opened.close())

    it.each(['audit-log?limit=20&cursor=', 'activity?limit=20&cursor='])('%s reads no list of all records', async (path) => {
      ledger.opened.sent()
      const { body } = await ledger.request('GET', `/api/${path}`, { caller: AUDITOR })
      expect(body.data).toHaveLength(20)
      const plans = await Promise.all(ledger.opened.sent().map(async ({ text, values }) =>
        (await ledger.opened.all(`explain (analyze, timing off) ${text}`, values)).flat().join('\n')))
      expect(plans.join('\n')).not.toMatch(/hashed SubPlan/)
      const read = plans.join('\n').matchAll(/actual rows=(?<rows>\d+)/g)
      expect(Math.max(...Array.from(read, ({ groups }) => Number(groups!.rows)))).toBeLessThan(200)
    })
  })
})
