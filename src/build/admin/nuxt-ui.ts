/** Nuxt UI, on which the pages of the admin are built. The admin installs it if the app does not list it. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hasNuxtModule } from '@nuxt/kit'
import type { ModuleDependencies, Nuxt } from 'nuxt/schema'
import { join } from 'pathe'

const NUXT_UI = '@nuxt/ui'

export interface NuxtUi {
  /** Whether the app lists Nuxt UI. Then its own CSS imports the styles of Nuxt UI. */
  readonly isListed: boolean
  /** Whether the styles of Nuxt UI contain only the components that the files of the app use. */
  readonly detectsComponents: boolean
}

/**
 * The modules that Nuxt installs with the admin. Nuxt UI has such modules itself, for icons and the color mode. Nuxt installs these only if
 * Nuxt UI is one of the dependencies: `installModule` leaves them out.
 *
 * Without the package, Nuxt would only name the module that it cannot load. `findRequirementProblems` says what to install.
 */
export function nuxtUiDependency(nuxt: Nuxt): ModuleDependencies {
  const { modulesDir } = nuxt.options
  // Nuxt 4.1 does not wait for a promise here.
  const folders = modulesDir.flatMap(dir => createRequire(join(dir, '../package.json')).resolve.paths(NUXT_UI) ?? [])
  const isThere = [...modulesDir, ...folders].some(folder => existsSync(join(folder, NUXT_UI, 'package.json')))
  if (!isThere) return {}
  if (!listsNuxtUi(nuxt)) turnOffFonts(nuxt)
  return { [NUXT_UI]: { version: '^4.0.0' } }
}

const IS_NUXT_UI = /(?:^|\/)@nuxt\/ui(?:$|[-/])/

/** Whether the app or a layer lists Nuxt UI. A module that is not a name can be Nuxt UI. */
function listsNuxtUi({ options }: Nuxt): boolean {
  const listed = [...options.modules, ...options._layers.flatMap(({ config }) => config.modules ?? [])]
    .map(module => Array.isArray(module) ? module[0] : module)
  return listed.some(module => typeof module === 'string' ? IS_NUXT_UI.test(module) : typeof module === 'function' && 'getMeta' in module)
}

/**
 * Nuxt UI installs `@nuxt/fonts`, which asks five servers for their lists of fonts whenever Nuxt starts. Without internet, it prints pages
 * of errors and waits for seconds. Nuxt UI reads the option before Nuxt applies the defaults of a dependency, so this sets the option
 * itself. An app that has chosen a value, or that has options for fonts, keeps its fonts.
 */
function turnOffFonts(nuxt: Nuxt): void {
  const options = nuxt.options as { ui?: { readonly fonts?: unknown } | false, readonly fonts?: unknown }
  if (options.ui === false || options.ui?.fonts !== undefined || options.fonts !== undefined) return
  options.ui = { ...options.ui, fonts: false }
}

/** Call it in the setup of the admin. Nuxt installs the dependency afterwards, so only an app that lists Nuxt UI has it by then. */
export function findNuxtUi(nuxt: Nuxt): NuxtUi {
  const { ui } = nuxt.options as { ui?: { experimental?: { componentDetection?: unknown } } | false }
  return { isListed: hasNuxtModule(NUXT_UI, nuxt), detectsComponents: Boolean(ui && ui.experimental?.componentDetection) }
}
