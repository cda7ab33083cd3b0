/**
 * The measured implementations. Each is a script that listens on `HOST`:`PORT`, prints its address, and opens the file
 * `BENCH_DATABASE`.
 */
import { fileURLToPath } from 'node:url'

export interface Implementation {
  readonly key: string
  readonly title: string
  /** The script that Node runs. */
  readonly entry: string
  /** Path of its posts. */
  readonly posts: string
  /** Further environment variables of its process. */
  readonly environment?: (database: string) => Readonly<Record<string, string>>
}

export const appFolder = fileURLToPath(new URL('./app', import.meta.url))

const app = `${appFolder}/.output/server/index.mjs`

/** The first one is the baseline. */
export const IMPLEMENTATIONS = [
  { key: 'a', title: 'handwritten, Drizzle query built per request', entry: app, posts: '/hand/posts' },
  { key: 'b', title: 'handwritten, Drizzle query prepared once', entry: app, posts: '/prepared/posts' },
  { key: 'c', title: 'handwritten raw SQL, better-sqlite3 without Drizzle', entry: app, posts: '/raw/posts' },
  { key: 'd', title: 'nuxt-auto-api, tenancy and listFilter', entry: app, posts: '/api/posts' },
  { key: 'e', title: 'd with a hook before and a hook after each operation', entry: app, posts: '/api/hooked' },
] as const satisfies readonly Implementation[]
