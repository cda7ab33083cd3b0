import { db } from '../database/client'

export default defineNitroPlugin(() => {
  initializeDatabase(db, 'postgres')
})
