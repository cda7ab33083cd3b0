/**
 * The measured implementations. Each is a script that listens on `HOST`:`PORT`, prints its address, and opens the file
 * `BENCH_DATABASE`.
 */
import { resolve } from 'node:path'
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

const appIn = (checkout: string) => `${checkout}/bench/app/.output/server/index.mjs`

export const appFolder = fileURLToPath(new URL('./app', import.meta.url))

const app = appIn(fileURLToPath(new URL('..', import.meta.url)))

/** The first one is the baseline. */
export const IMPLEMENTATIONS = [
  { key: 'a', title: 'handwritten, Drizzle query built per request', entry: app, posts: '/hand/posts' },
  { key: 'b', title: 'handwritten, Drizzle query prepared once', entry: app, posts: '/prepared/posts' },
  { key: 'c', title: 'handwritten raw SQL, better-sqlite3 without Drizzle', entry: app, posts: '/raw/posts' },
  { key: 'd', title: 'nuxt-auto-api, tenancy and listFilter', entry: app, posts: '/api/posts' },
  { key: 'e', title: 'd with a hook before and a hook after each operation', entry: app, posts: '/api/hooked' },
] as const satisfies readonly Implementation[]

/** What Nitro and h3 leave to a handler: it sends constant bytes to everybody. Only some operations are measured with it. */
export const BARE: Implementation & { readonly operations: readonly string[] } = {
  key: 'bare',
  title: 'a handler that sends constant bytes, without a check of the caller',
  entry: app,
  posts: '/stored/bare/posts',
  operations: ['list 20', 'get'],
}

/** `d` of another checkout as the baseline, and `d` of this one. */
export const comparedWith = (checkout: string): readonly Implementation[] => {
  const d = IMPLEMENTATIONS.find(({ key }) => key === 'd')!
  return [{ ...d, key: 'before', title: `d of ${checkout}`, entry: appIn(resolve(checkout)) }, d]
}
