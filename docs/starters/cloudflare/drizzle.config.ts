import { defineConfig } from 'drizzle-kit'

// Only for `drizzle-kit generate`: Wrangler applies the migrations.
export default defineConfig({
  dialect: 'sqlite',
  schema: './server/database/schema.ts',
  out: './server/database/migrations',
})
