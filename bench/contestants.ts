/** Who is measured. A contestant is a script that listens on `HOST`:`PORT`, says where, and opens `BENCH_DATABASE`. */
import { fileURLToPath } from 'node:url'

export interface Contestant {
  readonly key: string
  readonly title: string
  /** The script that Node runs. */
  readonly entry: string
  /** Where its posts are. */
  readonly posts: string
  /** What its process is told besides. */
  readonly environment?: (database: string) => Readonly<Record<string, string>>
}

export const appFolder = fileURLToPath(new URL('./app', import.meta.url))

const app = `${appFolder}/.output/server/index.mjs`

/** The first is what the others are compared with. */
export const CONTESTANTS = [
  { key: 'a', title: 'by hand, Drizzle built per request', entry: app, posts: '/hand/posts' },
  { key: 'b', title: 'by hand, Drizzle prepared', entry: app, posts: '/prepared/posts' },
  { key: 'c', title: 'by hand, better-sqlite3 alone', entry: app, posts: '/raw/posts' },
  { key: 'd', title: 'nuxt-auto-api, tenancy and listFilter', entry: app, posts: '/api/posts' },
  { key: 'e', title: 'd with a hook before and after', entry: app, posts: '/api/hooked' },
] as const satisfies readonly Contestant[]
