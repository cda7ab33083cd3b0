/** Who can read the trash: `viewDeleted`, which falls back to `restore`, which falls back to `update`. */
import { describe, expect, it } from 'vitest'
import type { Permission } from '../../../src/runtime/server/registration'
import { openNewsdata, tables } from '../../support/newsdata/server'

type Permissions = Partial<Record<'viewDeleted' | 'restore' | 'update' | 'delete', Permission>>

/** Expected of an anonymous caller, of a signed-in one, of one with the permission `trash`, of a super-admin. */
const CASES: readonly (readonly [rule: string, permissions: Permissions, expected: readonly [number, number, number, number]])[] = [
  ['viewDeleted decides', { viewDeleted: 'trash', restore: true, update: true }, [401, 403, 200, 200]],
  ['without it, restore does', { restore: 'trash', update: true }, [401, 403, 200, 200]],
  ['without both, update does', { update: 'trash' }, [401, 403, 200, 200]],
  ['delete does not', { delete: true }, [401, 403, 403, 200]],
  ['true lets everybody', { viewDeleted: true }, [200, 200, 200, 200]],
  ['false lets nobody but the super-admin', { viewDeleted: false, restore: true, update: true }, [401, 403, 403, 200]],
]

const user = { id: 1, organizationId: 1 }
const CALLERS = [{}, { user }, { user, permissions: ['trash'] }, { user, permissions: ['*'] }].map(caller => ({ ...caller, tenantId: 1 }))

describe.each(CASES)('%s', (_, permissions, expected) => {
  const registered = [{ name: 'articles', schema: tables.articles, authorization: { permissions: { read: true, ...permissions } } }]

  it('applies to every read of deleted rows, and to no other read', async () => {
    const server = await openNewsdata({ registered })
    const gone = server.data.articles!.find(row => row.organizationId === 1 && row.deletedAt !== null)!
    const reads = ['articles?', `articles/${gone.id}?`, 'articles/aggregate?']
    const statuses = async (query: string) =>
      Promise.all(
        reads.map(path =>
          Promise.all(CALLERS.map(async caller => (await server.request('GET', `/api/${path}${query}`, { caller })).status)),
        ),
      )
    for (const flag of ['includeDeleted=true', 'onlyDeleted=true']) expect(await statuses(flag)).toEqual(reads.map(() => expected))
    expect(await statuses('includeDeleted=false')).toEqual([[200, 200, 200, 200], [404, 404, 404, 404], [200, 200, 200, 200]])
    server.client.close()
  })
})

describe('the trash', () => {
  it('is returned alone by onlyDeleted, with active rows by includeDeleted, and otherwise not', async () => {
    const server = await openNewsdata({
      registered: [{ name: 'articles', schema: tables.articles, authorization: { permissions: { read: true, viewDeleted: true } } }],
    })
    const own = server.data.articles!.filter(row => row.organizationId === 1)
    const gone = own.filter(row => row.deletedAt !== null).length
    const total = async (query: string) => (await server.request('GET', `/api/articles?${query}`, { caller: { user } })).body.meta.total
    expect([await total('onlyDeleted=true'), await total('includeDeleted=true'), await total('')]).toEqual([
      gone,
      own.length,
      own.length - gone,
    ])
    expect(gone).toBeGreaterThan(0)
    server.client.close()
  })
})
