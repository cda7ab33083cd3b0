/** Members have API tokens. */
import { defineResource, type AutoApiContext } from 'nuxt-auto-api/define'
import { apiTokens } from '../database/schema'

const isMember = (ctx: AutoApiContext) => ctx.user !== null

export default defineResource(apiTokens, { permissions: { read: isMember, create: isMember, update: isMember, delete: isMember } })
