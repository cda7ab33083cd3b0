import { betterAuth } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { db } from './database/client'
import * as schema from './database/schema'

export const auth = betterAuth({
  database: drizzleAdapter(db, { provider: 'pg', schema }),
  emailAndPassword: { enabled: true },
  // `input: false`: otherwise users could choose their role when they sign up.
  user: { additionalFields: { role: { type: 'string', input: false } } },
})
