import { defineResource } from 'nuxt-auto-api/define'
import { posts } from '../database/schema'

export default defineResource(posts, { permissions: { read: 'editor', create: 'editor', update: 'editor', delete: 'editor' } })
