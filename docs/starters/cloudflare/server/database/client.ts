import { drizzle } from 'drizzle-orm/d1'
import type { H3Event } from 'h3'

/** The database is a binding, which belongs to a request. */
export const openDatabase = (event: H3Event) => drizzle(event.context.cloudflare.env.DB)
