/** The same path by another method. */
import { defineEventHandler } from 'h3'

export default defineEventHandler(async () => ({ queued: true as const }))
