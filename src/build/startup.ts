/** What the server does when it starts: it builds the API, with the app's endpoints loaded, so that a wrong one stops it. */
import { readFileSync } from 'node:fs'
import { addServerPlugin } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import type { Handler } from './routes'

/** The parts of Nitro that know the files it found, and what it bundles them with; the same in both versions. */
interface Nitro {
  readonly scannedHandlers: Handler[]
  readonly hooks: { hook: (name: 'rollup:before', run: (nitro: unknown, bundler: { plugins?: unknown }) => void) => void }
}

export function addStartup(nuxt: Nuxt, resolve: (path: string) => string): void {
  addServerPlugin(resolve('./runtime/server/nitro/start'))
  nuxt.hook('nitro:init', (nitro) => {
    const found = nitro as unknown as Nitro
    // Files are looked for before every bundle, and again when one is added in development.
    const buildStart = () => loadEndpointsAtStartup(found.scannedHandlers, file => readFileSync(file, 'utf8'))
    found.hooks.hook('rollup:before', (_, bundler) => {
      bundler.plugins = [{ name: 'auto-api:start', buildStart }, bundler.plugins]
    })
  })
}

/** Nitro loads handlers with their first request; those that make an endpoint of ours are loaded with the server. */
export function loadEndpointsAtStartup(handlers: readonly Handler[], read: (file: string) => string): void {
  for (const handler of handlers) if (handler.lazy && read(handler.handler).includes('createEndpoint')) handler.lazy = false
}
