/** Makes the server create the API at startup, with the app's endpoints loaded, so that an invalid endpoint fails at startup. */
import { readFileSync } from 'node:fs'
import { addServerPlugin } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import type { Handler } from './routes'

/** The parts of Nitro for its scanned files and its bundler, which both versions have. */
interface Nitro {
  readonly scannedHandlers: Handler[]
  readonly hooks: { hook: (name: 'rollup:before', run: (nitro: unknown, bundler: { plugins?: unknown }) => void) => void }
}

export function addStartup(nuxt: Nuxt, resolve: (path: string) => string): void {
  addServerPlugin(resolve('./runtime/server/nitro/start'))
  nuxt.hook('nitro:init', (value) => {
    const nitro = value as unknown as Nitro
    // Nitro scans for files before every bundle, and again when a file is added in development.
    const buildStart = () => loadEndpointsAtStartup(nitro.scannedHandlers, file => readFileSync(file, 'utf8'))
    nitro.hooks.hook('rollup:before', (_, bundler) => {
      bundler.plugins = [{ name: 'auto-api:start', buildStart }, bundler.plugins]
    })
  })
}

/** Nitro loads a handler at its first request. This loads the handlers that call `createEndpoint` when the server starts. */
export function loadEndpointsAtStartup(handlers: readonly Handler[], read: (file: string) => string): void {
  for (const handler of handlers) if (handler.lazy && read(handler.handler).includes('createEndpoint')) handler.lazy = false
}
