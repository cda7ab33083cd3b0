/** The server plugin of an app with a read replica, as the docs show it. */
import { drizzle } from 'drizzle-orm/node-postgres'
import { initializeDatabase } from 'nuxt-auto-api/database'

export default () => {
  const primary = drizzle(process.env.DATABASE_URL!)
  const replica = drizzle(process.env.REPLICA_URL!)
  initializeDatabase(primary, 'postgres', { replica })
  return [primary, replica]
}
