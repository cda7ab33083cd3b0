import { openDatabase } from '../database/client'

export default defineNitroPlugin(() => {
  // Reads use a replica of D1 if read replication is on. It needs `NUXT_AUTO_API_SECRET`.
  initializeDatabase(openDatabase, 'd1', { sessions: true })
})
