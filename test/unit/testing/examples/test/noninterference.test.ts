import { expectNoninterference } from 'nuxt-auto-api/testing'
import { it } from 'vitest'
import { api } from './api'

it('answers independently of what a caller cannot see', async () => {
  await expectNoninterference(api, { as: ['anonymous', 'reader'] })
}, 60_000)
