/** Passes the database to the API, and closes it when the server stops. */
export default defineNitroPlugin((nitro) => {
  const db = useDatabase()
  initializeDatabase(db, 'postgres', { prepare: process.env.BENCH_PREPARE === '1' })
  nitro.hooks.hook('close', () => db.$client.end())
})
