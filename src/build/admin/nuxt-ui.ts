/** Installs Nuxt UI, on which the pages of the admin are built, if the app does not list it. */
import { hasNuxtModule, installModule } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { isInstalled } from '../peer-dependencies'
import type { Problem } from '../problem'

export interface NuxtUi {
  /** Whether the app lists Nuxt UI. Then its own CSS imports the styles of Nuxt UI. */
  readonly isListed: boolean
  /** Whether the styles of Nuxt UI contain only the components that the files of the app use. */
  readonly detectsComponents: boolean
  readonly problems: readonly Problem[]
}

/** Installs Nuxt UI. An app can list it before the admin or after it. */
export async function installNuxtUi(nuxt: Nuxt): Promise<NuxtUi> {
  const { ui } = nuxt.options as { ui?: { experimental?: { componentDetection?: unknown } } | false }
  const detectsComponents = Boolean(ui && ui.experimental?.componentDetection)
  if (hasNuxtModule('@nuxt/ui', nuxt)) return { isListed: true, detectsComponents, problems: [] }
  if (await isInstalled(nuxt)('@nuxt/ui')) {
    await installModule('@nuxt/ui', {}, nuxt)
    return { isListed: false, detectsComponents, problems: [] }
  }
  const what = 'is not installed, but `nuxt-auto-api/admin` requires it'
  return { isListed: false, detectsComponents, problems: [{ where: '@nuxt/ui', what, instead: 'Run `npm install @nuxt/ui tailwindcss`.' }] }
}
