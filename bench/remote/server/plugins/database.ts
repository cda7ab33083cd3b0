/** Passes the database to the API, and closes it when the server stops. */
import { engine } from '#client'

export default defineNitroPlugin((nitro) => {
  const db = useDatabase()
  initializeDatabase(db, engine, process.env.BENCH_PREPARE === '1' ? { prepare: true } : {})
  nitro.hooks.hook('close', () => db.$client.end())
})
