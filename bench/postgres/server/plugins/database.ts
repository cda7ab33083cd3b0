/** Passes the database to the API, and closes it when the server stops. */
export default defineNitroPlugin((nitro) => {
  const db = useDatabase()
  initializeDatabase(db, 'postgres')
  nitro.hooks.hook('close', () => db.$client.end())
})
