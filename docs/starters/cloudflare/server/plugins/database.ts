import { openDatabase } from '../database/client'

export default defineNitroPlugin(() => {
  initializeDatabase(openDatabase, 'd1')
})
