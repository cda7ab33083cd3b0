import { defineResource } from 'nuxt-auto-api/define'
import { authors } from '../database/schema'

export default defineResource(authors, { permissions: { read: true } })
