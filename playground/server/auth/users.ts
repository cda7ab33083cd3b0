/** Users: members of an organization see each other, editors also see email addresses, administrators also see salaries. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { users } from '../database/schema'

export const usersAuth = defineResourceAuth<typeof users>({
  permissions: {
    read: ctx => ctx.user !== null,
    create: 'users:manage',
    update: 'users:manage',
    delete: 'users:manage',
  },
  fields: {
    email: { read: 'users:contact' },
    salary: { read: 'users:manage', write: 'users:manage' },
  },
  custom: {
    export: { permissions: { read: 'users:manage' } },
  },
})
