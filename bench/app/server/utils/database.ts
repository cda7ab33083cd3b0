/** The single connection of this process. */
import { openDatabase } from '../database/client'

let db: ReturnType<typeof openDatabase> | undefined

export const useDatabase = () => db ??= openDatabase()
