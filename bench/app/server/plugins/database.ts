/** Hands the database to the API and closes it with the server. */
export default defineNitroPlugin((nitro) => {
  const db = useDatabase()
  initializeDatabase(db, 'better-sqlite3')
  nitro.hooks.hook('close', () => {
    db.$client.close()
  })
})
