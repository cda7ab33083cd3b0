/** The differences between the supported Nuxt versions. */
import { addServerTemplate, isNuxtMajorVersion } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'

/** The Nitro options that this file changes. Some options exist in only one of the two versions. */
interface NitroOptions {
  baseURL?: string
  alias?: Record<string, string>
  /** Only Nitro 2 reads this option. */
  externals?: { inline?: unknown[] }
  /** Only Nitro 3 reads this option. `true` bundles everything. */
  noExternals?: boolean | unknown[]
}

interface NitroVersion {
  /** The package behind `#auto-api/h3`. */
  readonly h3: string
  /** The module behind `#auto-api/storage`. */
  readonly storage: string
  /** The module behind `#auto-api/runtime-config`. */
  readonly runtimeConfig: string
  /** The package that declares the types of the routes. */
  readonly types: string
  /** Returns the part of the app's base URL that the path of an event contains. It does not end in a slash. */
  readonly eventBase: (options: NitroOptions) => string
  /** Makes Nitro bundle the files of a folder, or those whose path or name matches a pattern. */
  readonly bundle: (options: NitroOptions, files: string | RegExp) => void
}

/**
 * Outside the bundle, Node loads hundreds of files of these packages, and reads the long `package.json` of Drizzle for each of them: most
 * of the time until the first response. The drivers that they import stay outside.
 */
const SLOW_OUTSIDE = /^(?:.*[\\/]node_modules[\\/])?(?:drizzle-orm|drizzle-zod|zod)(?:[\\/]|$)/

const NITRO_2: NitroVersion = {
  h3: 'h3',
  storage: 'nitropack/runtime/storage',
  runtimeConfig: 'nitropack/runtime/config',
  types: 'nitropack/types',
  eventBase: () => '',
  bundle(options, files) {
    options.externals ??= {}
    options.externals.inline = [...options.externals.inline ?? [], files]
  },
}

const NITRO_3: NitroVersion = {
  h3: 'nitro/h3',
  storage: 'nitro/storage',
  runtimeConfig: 'nitro/runtime-config',
  types: 'nitro/types',
  // A relative base URL is no part of a path.
  eventBase: ({ baseURL = '' }) => baseURL.startsWith('/') ? baseURL.replace(/\/+$/, '') : '',
  bundle(options, files) {
    if (options.noExternals === true) return
    // Nuxt adds the folder of the package. Nitro would then bundle all packages below that folder, also those with a native driver.
    const isAbove = (item: unknown) => typeof item === 'string' && String(files).startsWith(`${item.replace(/\/$/, '')}/`)
    options.noExternals = [...(options.noExternals || []).filter(item => !isAbove(item)), files]
  },
}

export function nitroVersionOf(isNuxt4: boolean): NitroVersion {
  return isNuxt4 ? NITRO_2 : NITRO_3
}

/**
 * Adds the modules behind `#auto-api/h3`, `#auto-api/storage` and `#auto-api/runtime-config`, and makes Nitro bundle the runtime: outside
 * the bundle, Node would load the placeholder modules instead of the generated ones.
 * @param bundlesDrizzle whether Nitro bundles Drizzle and Zod too. In development it never does: it bundles again after each saved file.
 * @returns what generated modules read when they are bundled: the part of the base URL that the path of an event contains.
 */
export function prepareNitro(nuxt: Nuxt, runtimeDir: string, bundlesDrizzle: boolean): { readonly eventBase: string } {
  const version = nitroVersionOf(isNuxtMajorVersion(4, nuxt))
  // These two modules are generated and bundled. In bundled files, Nitro resolves imports of its own runtime, wherever Nitro is installed.
  addServerTemplate({ filename: '#auto-api/storage', getContents: () => `export { useStorage } from '${version.storage}'\n` })
  addServerTemplate({
    filename: '#auto-api/runtime-config',
    getContents: () => `export { useRuntimeConfig } from '${version.runtimeConfig}'\n`,
  })
  const prepared = { eventBase: '' }
  nuxt.hook('nitro:config', (config) => {
    const options = config as NitroOptions
    prepared.eventBase = version.eventBase(options)
    options.alias ??= {}
    // The alias of Nuxt has priority, because the package name could resolve to another copy of h3.
    options.alias['#auto-api/h3'] = options.alias[version.h3] ?? version.h3
    version.bundle(options, runtimeDir)
    if (bundlesDrizzle && !nuxt.options.dev) version.bundle(options, SLOW_OUTSIDE)
  })
  return prepared
}
