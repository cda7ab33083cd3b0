/** On every engine an upload is one atomic update of a JSON column, and the daily task finds what the rows name. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { auditLog, fileSystemStorage, fileUpload } from '../../src/runtime/plugins/index'
import { runPluginTasks } from '../../src/runtime/server/tasks/plugins'
import { filesIn } from '../plugins/file-upload/world'
import { AUDIT_LOGS, auditLogSql } from './support/audit-log'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openFilled, type Filled } from './support/tables'

const SPECS = { things: { columns: { id: 'integer!', photo: 'json', papers: 'json' }, key: ['id'] } } as const
const ROWS = { things: [{ id: 1, photo: null, papers: null }, { id: 2, photo: { old: true }, papers: [1, null] }] }
const CALLER = { user: { id: 1 }, permissions: ['edit'] }

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'engine-files-'))
    let server: Filled
    beforeAll(async () => {
      const accept = ['text/plain']
      // The registration protects the columns, so the part that runs at build time is not needed.
      const plugin = fileUpload({
        resources: { things: { photo: { accept }, papers: { accept, multiple: true } } }, storage: fileSystemStorage({ base: folder }),
      })
      server = await openFilled(engineCase, SPECS, ROWS, {
        config: {},
        plugins: [auditLog(), { ...plugin, resources: undefined, buildSetup: undefined }],
        registrations: ({ things }) => [
          {
            name: 'things',
            schema: things,
            protectedFields: ['photo', 'papers'],
            authorization: { permissions: { read: true, update: 'edit', delete: 'edit' } },
          },
          { name: 'auditLog', schema: AUDIT_LOGS[engineCase.dialect], authorization: { permissions: { read: 'edit' } } },
        ],
      })
      await server.opened.exec(await auditLogSql(engineCase.dialect))
    })
    afterAll(async () => {
      vi.useRealTimers()
      await server?.opened.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const send = (method: string, path: string, raw?: string) =>
      server.request(method, `/api/things/${path}`, {
        caller: CALLER,
        ...(raw !== undefined && { raw, headers: { 'content-type': 'text/plain' } }),
      })
    const keysOf = (value: unknown) =>
      [typeof value === 'string' ? (JSON.parse(value) as unknown) : value].flat().map(file => (file as { key: string }).key)

    it.each([1, 2])('are stored, replaced, added at once and removed: row %i', async (id) => {
      const first = await send('POST', `${id}/upload/photo`, 'first')
      expect(first.status, first.text).toBe(200)
      expect(first.body.photo).toMatchObject({ name: 'photo.txt', size: 5 })
      expect((await send('GET', `${id}/files/photo`)).text).toBe('first')
      const all = await Promise.all(['a', 'b', 'c', 'd'].map(text => send('POST', `${id}/upload/photo`, text)))
      expect(all.every(({ status }) => status === 200)).toBe(true)
      const papers = await Promise.all(['a', 'b', 'c'].map(text => send('POST', `${id}/upload/papers`, text)))
      expect(papers.map(({ status }) => status)).toEqual([200, 200, 200])
      const { body } = await send('GET', String(id))
      const folderOf = `things/3${id}`
      const named = [
        ...keysOf(body.photo).map(key => `${folderOf}/photo/${key}`),
        ...keysOf(body.papers).map(key => `${folderOf}/papers/${key}`),
      ]
      expect(named).toHaveLength(4)
      expect(filesIn(folder).filter(path => path.startsWith(folderOf))).toEqual(named.sort())
      expect((await send('DELETE', `${id}/files/papers/${keysOf(body.papers)[1]}`)).status).toBe(200)
      expect(keysOf((await send('GET', String(id))).body.papers)).toHaveLength(2)
    })

    it('have entries in the audit log for an upload, a replacement and a removal, but not for refused requests', async () => {
      await server.opened.exec('delete from audit_log')
      for (const text of ['first', 'other']) expect((await send('POST', '2/upload/photo', text)).status).toBe(200)
      expect((await send('DELETE', '2/files/photo')).status).toBe(200)
      const refused = [
        await send('DELETE', '2/files/photo'),
        await send('POST', '2/upload/photo', '<html></html>'),
        await send('POST', '9/upload/photo', 'x'),
        await server.request('POST', '/api/things/2/upload/photo', {
          caller: { user: { id: 2 } },
          raw: 'x',
          headers: { 'content-type': 'text/plain' },
        }),
      ]
      expect(refused.map(({ status }) => status)).toEqual([404, 415, 404, 403])
      for (const path of ['audit-log?resource=things', 'things/2/history']) {
        const { body } = await server.request('GET', `/api/${path}`, { caller: CALLER })
        expect(body.data).toMatchObject([
          {
            kind: 'update',
            recordId: '2',
            userId: '1',
            columns: ['photo'],
            before: { photo: { name: 'photo.txt', size: 5 } },
            after: { photo: null },
          },
          { kind: 'update', recordId: '2', columns: ['photo'], before: { photo: { size: 5 } }, after: { photo: { size: 5 } } },
          { kind: 'update', recordId: '2', columns: ['photo'], after: { photo: { name: 'photo.txt' } } },
        ])
        expect(body.meta.total).toBe(3)
        expect(new Set(body.data.map(({ after }: { after: { photo: { sha256?: string } | null } }) => after.photo?.sha256)).size).toBe(3)
      }
    })

    it('stay for the task if a record names them', async () => {
      const before = filesIn(folder)
      expect(before.length).toBeGreaterThan(0)
      vi.useFakeTimers({ now: Date.now() + 2 * 24 * 60 * 60 * 1000, toFake: ['Date'] })
      await runPluginTasks(new Date(), { payload: { task: 'fileUpload:orphans' } })
      expect(filesIn(folder)).toEqual(before)
      const orphan = 'things/31/photo/01936f00-0000-7000-8000-000000000000'
      await fileSystemStorage({ base: folder }).put(orphan, (async function* () {})(), { type: 'text/plain' })
      expect(filesIn(folder)).toContain(orphan)
      await runPluginTasks(new Date(), { payload: { task: 'fileUpload:orphans' } })
      expect(filesIn(folder)).toEqual(before)
      vi.useRealTimers()
    })

    it('go with a record that is deleted', async () => {
      expect((await send('DELETE', '1')).status).toBe(200)
      expect(filesIn(folder).filter(path => path.startsWith('things/31/'))).toEqual([])
    })
  })
})
