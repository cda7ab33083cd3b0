/** Example of the docs page `plugins`: who reads the events of the outbox. */
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { events } from '../schema'

export const eventsAuth = defineResourceAuth<typeof events>({ permissions: { read: 'events' } })
