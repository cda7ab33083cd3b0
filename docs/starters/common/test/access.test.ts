/** Who can do what: the table is in `access.md`. `UPDATE_MATRIX=1 npm test` writes it after a change of the rules. */
import { createTestApi, expectAccess, expectNoLeaks } from 'nuxt-auto-api/testing'
import { beforeAll, it } from 'vitest'
import { openDatabase } from './database'

const openApi = async () => createTestApi({
  resources: { tasks: () => import('../server/resources/tasks') },
  ...await openDatabase(),
  callers: {
    ada: { user: { id: 'ada', role: 'member' } },
    ben: { user: { id: 'ben', role: 'member' } },
    admin: { user: { id: 'eve', role: 'admin' } },
  },
})

let api: Awaited<ReturnType<typeof openApi>>
beforeAll(async () => {
  api = await openApi()
}, 60_000)

it('gives each caller the expected access', async () => {
  await expectAccess(api).rows({ tasks: { ofAda: 1, ofBen: 2 } }).toMatchMatrix(new URL('access.md', import.meta.url))
})

it('does not disclose the tasks of others', async () => {
  await expectNoLeaks(api, { as: ['anonymous', 'ada'], rows: { tasks: [2] }, secrets: ['Only Ben knows'] })
})
