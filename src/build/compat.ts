/** What differs between the Nuxt versions we support, and nowhere else. */
import { addServerTemplate, isNuxtMajorVersion } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'

/** The part of Nitro's options that both versions have, or one of them reads. */
interface NitroOptions {
  alias?: Record<string, string>
  /** Nitro 2. */
  externals?: { inline?: unknown[] }
  /** Nitro 3; `true` bundles everything. */
  noExternals?: boolean | unknown[]
}

interface NitroVersion {
  /** The package behind `#auto-api/h3`. */
  readonly h3: string
  /** The module behind `#auto-api/storage`. */
  readonly storage: string
  /** The module behind `#auto-api/runtime-config`. */
  readonly runtimeConfig: string
  /** The package that types the routes. */
  readonly types: string
  /** Makes Nitro bundle files instead of leaving them to Node, which would find the stand-ins of the generated modules. */
  readonly bundle: (options: NitroOptions, path: string) => void
}

const NITRO_2: NitroVersion = {
  h3: 'h3',
  storage: 'nitropack/runtime/storage',
  runtimeConfig: 'nitropack/runtime/config',
  types: 'nitropack/types',
  bundle(options, path) {
    options.externals ??= {}
    options.externals.inline = [...options.externals.inline ?? [], path]
  },
}

const NITRO_3: NitroVersion = {
  h3: 'nitro/h3',
  storage: 'nitro/storage',
  runtimeConfig: 'nitro/runtime-config',
  types: 'nitro/types',
  bundle(options, path) {
    if (options.noExternals !== true) options.noExternals = [...options.noExternals || [], path]
  },
}

export function nitroVersionOf(isNuxt4: boolean): NitroVersion {
  return isNuxt4 ? NITRO_2 : NITRO_3
}

/** Opens the doors to h3, to Nitro's storages and its runtime configuration, and has Nitro bundle the runtime, whichever Nitro it is. */
export function prepareNitro(nuxt: Nuxt, runtimeDir: string): void {
  const version = nitroVersionOf(isNuxtMajorVersion(4, nuxt))
  // A module of its own: Nitro finds its own runtime for what it bundles, wherever the package manager put it.
  addServerTemplate({ filename: '#auto-api/storage', getContents: () => `export { useStorage } from '${version.storage}'\n` })
  addServerTemplate({
    filename: '#auto-api/runtime-config',
    getContents: () => `export { useRuntimeConfig } from '${version.runtimeConfig}'\n`,
  })
  nuxt.hook('nitro:config', (config) => {
    const options = config as NitroOptions
    options.alias ??= {}
    // Nuxt's own h3, where it says which one that is: ours might resolve to another copy.
    options.alias['#auto-api/h3'] = options.alias[version.h3] ?? version.h3
    version.bundle(options, runtimeDir)
  })
}
