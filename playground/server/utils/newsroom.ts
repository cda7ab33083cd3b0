/** The single database connection of this server. */
import { openDatabase, type NewsroomDatabase } from '../database/client'
import { statementLogger } from './statements'

let database: NewsroomDatabase | undefined

export function useNewsroom(): NewsroomDatabase {
  database ??= openDatabase(process.env.DATABASE_FILE || useRuntimeConfig().databaseFile, statementLogger)
  return database
}
