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
export function nuxtUiDependency({ options: { modulesDir } }: Nuxt): ModuleDependencies {
  // Nuxt 4.1 does not wait for a promise here.
  const folders = modulesDir.flatMap(dir => createRequire(join(dir, '../package.json')).resolve.paths(NUXT_UI) ?? [])
  const isThere = [...modulesDir, ...folders].some(folder => existsSync(join(folder, NUXT_UI, 'package.json')))
  return isThere ? { [NUXT_UI]: { version: '^4.0.0' } } : {}
}

/** Call it in the setup of the admin. Nuxt installs the dependency afterwards, so only an app that lists Nuxt UI has it by then. */
export function findNuxtUi(nuxt: Nuxt): NuxtUi {
  const { ui } = nuxt.options as { ui?: { experimental?: { componentDetection?: unknown } } | false }
  return { isListed: hasNuxtModule(NUXT_UI, nuxt), detectsComponents: Boolean(ui && ui.experimental?.componentDetection) }
}
