/** Members of an organization can do everything with its rows. */
import type { Table } from 'drizzle-orm'
import { defineResourceAuth } from 'nuxt-auto-api/define'

export const everything = defineResourceAuth<Table>({ permissions: { read: true, create: true, update: true, delete: true } })
