/** The differences between the supported Nuxt versions. */
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
  /** Makes Nitro bundle the files of a folder. Node would load them with the stand-ins instead of the generated modules. */
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

/** Adds the modules behind `#auto-api/h3`, `#auto-api/storage` and `#auto-api/runtime-config`, and makes Nitro bundle the runtime. */
export function prepareNitro(nuxt: Nuxt, runtimeDir: string): void {
  const version = nitroVersionOf(isNuxtMajorVersion(4, nuxt))
  // Generated modules, because Nitro resolves imports of its own runtime in bundled files, wherever it is installed.
  addServerTemplate({ filename: '#auto-api/storage', getContents: () => `export { useStorage } from '${version.storage}'\n` })
  addServerTemplate({
    filename: '#auto-api/runtime-config',
    getContents: () => `export { useRuntimeConfig } from '${version.runtimeConfig}'\n`,
  })
  nuxt.hook('nitro:config', (config) => {
    const options = config as NitroOptions
    options.alias ??= {}
    // Nuxt's own alias comes first: the package's name could resolve to another copy of h3.
    options.alias['#auto-api/h3'] = options.alias[version.h3] ?? version.h3
    version.bundle(options, runtimeDir)
  })
}
