/** Checks that the peer dependencies are installed. Without this check, the error would name an import instead of the package. */
import { pathToFileURL } from 'node:url'
import { tryResolveModule } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import type { Problem } from './problem'

export interface PeerDependencies {
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
  /** Whether `@tanstack/vue-query`, which the composables require, is installed. */
  readonly composables: boolean
}

/** @param isInstalled whether the app can load a package */
export async function checkPeerDependencies(isInstalled: (name: string) => boolean | Promise<boolean>): Promise<PeerDependencies> {
  const [drizzle, query] = await Promise.all([isInstalled('drizzle-orm'), isInstalled('@tanstack/vue-query')])
  return {
    problems: drizzle
      ? []
      : [{ where: 'drizzle-orm', what: 'is not installed, but the server requires it', instead: 'Run `npm install drizzle-orm`.' }],
    warnings: query
      ? []
      : [
          '`@tanstack/vue-query` is not installed, so the composables (`useAutoApiList` and the others) are left out. '
          + 'The API works without them. To use them, run `npm install @tanstack/vue-query`.',
        ],
    composables: query,
  }
}

/** Creates a function that searches a package from the folders of the module and of the app, as the bundler does. */
export function isInstalled(nuxt: Nuxt): (name: string) => Promise<boolean> {
  const { rootDir, modulesDir } = nuxt.options
  const urls = [new URL(import.meta.url), ...[rootDir, ...modulesDir.map(dir => `${dir}/..`)].map(dir => pathToFileURL(`${dir}/`))]
  return async name => await tryResolveModule(name, urls) !== undefined
}
