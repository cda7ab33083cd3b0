import { expectAccess } from 'nuxt-auto-api/testing'
import { it } from 'vitest'
import { api } from './api'

it('gives each caller the expected access', async () => {
  await expectAccess(api)
    .rows({ posts: { own: 1, foreign: 2, otherTenant: 3, trashed: 4 } })
    .toMatchMatrix(new URL('access.md', import.meta.url))
})
