import { defineResource } from 'nuxt-auto-api/define'
import { orders } from './schema'

export default defineResource(orders, {
  permissions: { read: true, create: 'sales', update: 'sales', delete: 'sales' },
  nested: { lines: ['create', 'update', 'delete'], tags: ['link', 'unlink'] },
})
