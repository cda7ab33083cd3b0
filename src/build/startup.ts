/** Makes the server load the app's endpoints and create the API at startup. An invalid endpoint then fails at startup. */
import { readFileSync } from 'node:fs'
import { addServerPlugin } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { findLeftovers } from './leftovers'
import { assertNoProblems } from './problem'
import type { Handler } from './routes'

/** The properties of Nitro 2 and Nitro 3 for scanned files and for the bundler. */
interface Nitro {
  /** Nitro asks the first one first. */
  readonly options: { errorHandler?: string | string[] }
  readonly scannedHandlers: Handler[]
  readonly hooks: { hook: (name: 'rollup:before', run: (nitro: unknown, bundler: { plugins?: unknown }) => void) => void }
  /** Nitro 3 copies the handlers into its router before the bundle. */
  readonly routing?: { readonly sync?: () => void }
}

export function addStartup(nuxt: Nuxt, resolve: (path: string) => string): void {
  addServerPlugin(resolve('./runtime/server/nitro/native-driver'))
  addServerPlugin(resolve('./runtime/server/nitro/start'))
  nuxt.hook('nitro:init', (value) => {
    const nitro = value as unknown as Nitro
    nitro.options.errorHandler = [resolve('./runtime/server/nitro/errors'), ...[nitro.options.errorHandler ?? []].flat()]
    // Nitro scans for files before every bundle, and again when a file is added in development.
    const buildStart = () => {
      const read = (file: string) => readFileSync(file, 'utf8')
      assertNoProblems(findLeftovers(nitro.scannedHandlers, nuxt.options.rootDir, read))
      loadEndpointsAtStartup(nitro.scannedHandlers, read)
      nitro.routing?.sync?.()
    }
    nitro.hooks.hook('rollup:before', (_, bundler) => {
      bundler.plugins = [{ name: 'auto-api:start', buildStart }, bundler.plugins]
    })
  })
}

/** Turns off lazy loading for handlers that call `createEndpoint`. By default, Nitro loads a handler at its first request. */
export function loadEndpointsAtStartup(handlers: readonly Handler[], read: (file: string) => string): void {
  for (const handler of handlers) if (handler.lazy && read(handler.handler).includes('createEndpoint')) handler.lazy = false
}
