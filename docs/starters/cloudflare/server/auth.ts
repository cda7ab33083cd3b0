import { betterAuth } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import type { H3Event } from 'h3'
import { openDatabase } from './database/client'
import * as schema from './database/schema'

export const auth = (event: H3Event) => betterAuth({
  database: drizzleAdapter(openDatabase(event), { provider: 'sqlite', schema }),
  emailAndPassword: { enabled: true },
  // `input: false`: otherwise users could choose their role when they sign up.
  user: { additionalFields: { role: { type: 'string', input: false } } },
})
