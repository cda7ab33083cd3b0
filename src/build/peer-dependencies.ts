/** Finds the peer dependencies and their versions. Without this check, an error would name an import instead of the package. */
import { pathToFileURL } from 'node:url'
import { tryResolveModule } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import type { Problem } from './problem'

export interface PeerDependencies {
  readonly problems: readonly Problem[]
  /** Whether `@tanstack/vue-query`, which the composables require, is installed. */
  readonly composables: boolean
}

/** Names a range of `vue`: without it, npm tries Vue 2 for `@vue/composition-api`, an optional peer of TanStack Query, and fails. */
export const INSTALL_QUERY = 'npm install vue@3 @tanstack/vue-query'

/** The supported versions: 0.45.2 or newer, and 1.0 from its fifth release candidate. */
const SUPPORTED = /^(?:0\.45\.(?!0$|1$)\d+|1\.(?!0\.0-(?:beta|alpha|rc\.[1-4]\b)).*)$/

/**
 * @param isInstalled whether the app can load a package
 * @param drizzle the version of Drizzle; `undefined` if it is not installed
 */
export async function checkPeerDependencies(
  isInstalled: (name: string) => boolean | Promise<boolean>,
  drizzle: string | undefined,
): Promise<PeerDependencies> {
  return { problems: findDrizzleProblems(drizzle), composables: await isInstalled('@tanstack/vue-query') }
}

function findDrizzleProblems(version: string | undefined): Problem[] {
  if (version === undefined)
    return [{ where: 'drizzle-orm', what: 'is not installed, but the server requires it', instead: 'Run `npm install drizzle-orm`.' }]
  if (SUPPORTED.test(version)) return []
  return [{
    where: `drizzle-orm@${version}`,
    what: 'is not supported',
    instead: 'Run `npm install drizzle-orm@latest` (0.45.2 or newer, or 1.0.0-rc.5 or newer).',
  }]
}

/** The file with the code for a version of Drizzle, relative to the runtime. */
export const drizzleFileOf = (version: string | undefined): string =>
  `./runtime/server/drizzle/${version === undefined || version.startsWith('0.') ? 'major-0' : 'major-1'}`

/** Reads the version of Drizzle that the bundler will find. */
export async function findDrizzleVersion(nuxt: Nuxt): Promise<string | undefined> {
  const file = await tryResolveModule('drizzle-orm/version', toUrls(nuxt))
  return file && ((await import(pathToFileURL(file).href)) as { npmVersion: string }).npmVersion
}

/** Creates a function that searches a package from the folders of the module and of the app, as the bundler does. */
export function isInstalled(nuxt: Nuxt): (name: string) => Promise<boolean> {
  const urls = toUrls(nuxt)
  return async name => await tryResolveModule(name, urls) !== undefined
}

/** The folders of the module and of the app. */
function toUrls({ options: { rootDir, modulesDir } }: Nuxt): URL[] {
  return [new URL(import.meta.url), ...[rootDir, ...modulesDir.map(dir => `${dir}/..`)].map(dir => pathToFileURL(`${dir}/`))]
}
