import { expectNoLeaks } from 'nuxt-auto-api/testing'
import { expect, it } from 'vitest'
import { api } from './api'

it('does not disclose rows of other organizations and margins', async () => {
  await expectNoLeaks(api, {
    as: ['anonymous', 'reader'],
    rows: { posts: [3] },
    fields: { posts: ['margin'] },
    secrets: ['Of another organization', 4711],
  })
})

it('creates a post for an editor', async () => {
  const { status, body } = await api.as('editor').post<{ title: string }>('/posts?dryRun=true', { authorId: 2, title: 'New' })
  expect([status, body.title]).toEqual([201, 'New'])
  const refused = await api.as('reader').post('/posts', { authorId: 1, title: 'New' })
  expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN'])
})
