/** Passes the database to the API, and closes it when the server stops. */
export default defineNitroPlugin((nitro) => {
  const db = useDatabase()
  initializeDatabase(db, 'better-sqlite3')
  nitro.hooks.hook('close', () => {
    db.$client.close()
  })
})
