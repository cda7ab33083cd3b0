/** A collation of the log that treats keys as equal does not mix the entries of different records. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { activityFeed, auditLog } from '../../src/runtime/plugins/index'
import { AUDIT_LOGS, auditLogSql } from './support/audit-log'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openFilled, type Filled } from './support/tables'

const SPECS = { things: { columns: { id: 'text!', name: 'text' }, key: ['id'] } } as const
const ROWS = { things: [{ id: 'abc', name: 'lower' }, { id: 'ABC', name: 'upper' }] }
const CALLER = { user: { id: 'u' }, permissions: ['auditLog:read', 'activity:read'] }
const OTHER = { user: { id: 'U' } }

describe.each(ENGINE_CASES.filter(({ dialect }) => dialect === 'mysql'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a log whose collation ignores case', () => {
    let server: Filled
    beforeAll(async () => {
      server = await openFilled(engineCase, SPECS, ROWS, {
        config: {},
        plugins: [auditLog(), activityFeed({ actor: { resource: 'things', label: 'name' }, labels: { things: 'name' } })],
        registrations: ({ things }) => [
          { name: 'things', schema: things, authorization: { permissions: { read: true, update: true } } },
          { name: 'auditLog', schema: AUDIT_LOGS[engineCase.dialect], authorization: { permissions: { read: 'auditLog:read' } } },
        ],
      })
      await server.opened.exec(await auditLogSql(engineCase.dialect))
      await server.opened.exec('alter table audit_log convert to character set utf8mb4 collate utf8mb4_general_ci')
      for (const [id, name] of [['abc', 'one'], ['ABC', 'OTHER'], ['abc', 'two']] as const)
        expect((await server.request('PATCH', `/api/things/${id}`, { body: { name }, caller: CALLER })).status).toBe(200)
    })
    afterAll(() => server?.opened.close())

    const history = async (id: string) => (await server.request('GET', `/api/things/${id}/history`, { caller: CALLER })).body

    it('shows the history of one record', async () => {
      const { data, meta } = await history('abc')
      expect([data.map(({ recordId }: { recordId: string }) => recordId), meta.total]).toEqual([['abc', 'abc'], 2])
      expect((await history('ABC')).meta.total).toBe(1)
    })

    it('groups the updates of one record and one caller', async () => {
      expect((await server.request('PATCH', '/api/things/abc', { body: { name: 'three' }, caller: OTHER })).status).toBe(200)
      const { body: { data } } = await server.request('GET', '/api/activity', { caller: CALLER })
      expect(data.map(({ recordId, count }: { recordId: string, count: number }) => [recordId, count])).toEqual([
        ['abc', 1],
        ['abc', 2],
        ['ABC', 1],
      ])
    })

    it('reverts a record to its own values', async () => {
      const { data } = await history('abc')
      const first = data.at(-1).id as string
      const reverted = await server.request('POST', `/api/audit-log/${first}/revert`, { caller: CALLER, body: {} })
      expect([reverted.status, reverted.body.name]).toEqual([200, 'one'])
    })
  })
})
