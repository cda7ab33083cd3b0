/** Adds the migrations to the server bundle as text, so that a built server does not need their folder. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addServerTemplate, createResolver, defineNuxtModule } from 'nuxt/kit'

export default defineNuxtModule({
  meta: { name: 'newsroom-migrations' },
  setup() {
    const folder = createResolver(import.meta.url).resolve('../server/database/migrations')

    addServerTemplate({
      filename: '#newsroom/migrations',
      getContents: () => `export const migrations = ${JSON.stringify(readMigrations(folder), null, 2)}\n`,
    })
  },
})

/** The files that Drizzle's migrator reads: the SQL files and the journal of Drizzle 0.45, not the snapshots. */
function readMigrations(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => /\.sql$|_journal\.json$/.test(name))
  return Object.fromEntries(names.map(name => [name, readFileSync(join(folder, name), 'utf8')]))
}
