/** Looks for the packages that the app installs beside the module, so that a missing one is named instead of an import. */
import { pathToFileURL } from 'node:url'
import { tryResolveModule } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import type { Problem } from './problem'

export interface PeerDependencies {
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
  /** Whether Vue code can have the composables. */
  readonly composables: boolean
}

/** @param isInstalled whether the app can load a package */
export async function checkPeerDependencies(isInstalled: (name: string) => boolean | Promise<boolean>): Promise<PeerDependencies> {
  const [drizzle, query] = await Promise.all([isInstalled('drizzle-orm'), isInstalled('@tanstack/vue-query')])
  return {
    problems: drizzle
      ? []
      : [{ where: 'drizzle-orm', what: 'is not installed, and the server needs it', instead: 'Run `npm install drizzle-orm`.' }],
    warnings: query
      ? []
      : [
          '`@tanstack/vue-query` is not installed, so the composables (`useAutoApiList` and the others) are left out; the API works without them. To use them, run `npm install @tanstack/vue-query`.',
        ],
    composables: query,
  }
}

/** Beside the module or in the app, as the bundler looks for it. */
export function isInstalled(nuxt: Nuxt): (name: string) => Promise<boolean> {
  const { rootDir, modulesDir } = nuxt.options
  const places = [new URL(import.meta.url), ...[rootDir, ...modulesDir.map(dir => `${dir}/..`)].map(dir => pathToFileURL(`${dir}/`))]
  return async name => await tryResolveModule(name, places) !== undefined
}
