/** Hands the database to the API and closes it with the server. */
export default defineNitroPlugin((nitro) => {
  const db = useDatabase()
  initializeDatabase(db, 'postgres')
  nitro.hooks.hook('close', () => db.$client.end())
})
