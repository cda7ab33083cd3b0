/** A resource whose rows `key` identifies, as the docs show it. */
import { defineResource } from 'nuxt-auto-api/define'
import { orderLines } from './schema'

export default defineResource(orderLines, {
  key: ['orderId', 'position'],
  permissions: { read: true },
})
