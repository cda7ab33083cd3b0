/** Where drizzle-kit finds the tables and puts the migrations: `npm run generate:migrations` in this folder. */
import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: './server/database/schema.ts',
  out: './server/database/migrations',
})
