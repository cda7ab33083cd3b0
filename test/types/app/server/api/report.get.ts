/** An endpoint of the app that is no resource's. */
import { defineEventHandler } from 'h3'

export default defineEventHandler(() => ({ lines: ['one'], at: new Date() }))
