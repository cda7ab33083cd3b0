import { betterAuth } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import type { H3Event } from 'h3'
import { openDatabase } from './database/client'
import * as schema from './database/schema'

// The database is a binding, which belongs to a request, so each request has its own instance.
export const auth = (event: H3Event) => betterAuth({
  // Over HTTPS, the cookie of the session is then `Secure`.
  baseURL: process.env.BETTER_AUTH_URL ?? new URL(event.context.cloudflare.request.url).origin,
  database: drizzleAdapter(openDatabase(event), { provider: 'sqlite', schema }),
  emailAndPassword: { enabled: true },
  // `input: false`: otherwise users could choose their role when they sign up.
  user: { additionalFields: { role: { type: 'string', input: false } } },
})
