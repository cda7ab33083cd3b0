/** Example of docs/3.reference/10.plugins.md: who reads the events of the outbox. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { events } from '../schema'

export const eventsAuth = defineResourceAuth<typeof events>({ permissions: { read: 'events' } })
