/** The built visibility app, and the rows of its tables. */
import { NUXT } from '../../support/versions/nuxt'
import { buildFixture } from './build'
import type { RequestOptions } from './request'
import { startServer, type Server, type StartOptions } from './server'

/** Every row, by table and key. */
export type Rows = Record<string, Record<string, Record<string, unknown>>>

export interface VisibilityApp extends Server {
  readonly rows: () => Promise<Rows>
  /** Resets the tables and inserts these rows. @returns every row afterwards. */
  readonly putRows: (rows?: Record<string, object[]>) => Promise<Rows>
}

/**
 * @param variant one of the builds in the fixture's `nuxt.config`.
 * @param base where the app is mounted, if the build decides about it.
 * @returns the folder of the built server.
 */
export const buildVisibilityApp = (variant = 'plain', base = '/') =>
  buildFixture('visibility', { variant, ...!NUXT.hasBaseUrlAtStart && { env: { NUXT_APP_BASE_URL: base } } })

export interface VisibilityOptions extends StartOptions {
  /** One of the builds in the fixture's `nuxt.config`. @default 'plain' */
  readonly variant?: string
  /** Where the app is mounted. @default '/' */
  readonly base?: string
}

/** @throws When the app cannot be built, or ends instead of listening. */
export async function startVisibilityApp({ variant, base = '/', env, ...options }: VisibilityOptions = {}): Promise<VisibilityApp> {
  const server = await startServer(await buildVisibilityApp(variant, base), { ...options, env: { ...env, NUXT_APP_BASE_URL: base } })
  const rows = async (options?: RequestOptions) => (await server.request(`${base}_rows`, options)).body as Rows
  return { ...server, rows: () => rows(), putRows: (inserted = {}) => rows({ method: 'PUT', body: inserted }) }
}
