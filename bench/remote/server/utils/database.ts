/** The connection pool of this process, on the database of the benchmark. */
import { open } from '#client'

let db: ReturnType<typeof open> | undefined

export const useDatabase = () => db ??= open()
