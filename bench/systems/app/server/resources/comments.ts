import { defineResource } from 'nuxt-auto-api/define'
import { comments, commentsRelations } from '../database/schema'

export default defineResource(comments, { permissions: { read: true }, relations: commentsRelations })
