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

/** The packages that the pages of the admin need besides the module. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@nuxt/ui': 'npm install @nuxt/ui tailwindcss',
  '@tanstack/vue-query': 'npm install @tanstack/vue-query',
}

/** Installs Nuxt UI. An app can list it before the admin or after it. */
export async function installNuxtUi(nuxt: Nuxt): Promise<NuxtUi> {
  const { ui } = nuxt.options as { ui?: { experimental?: { componentDetection?: unknown } } | false }
  const detectsComponents = Boolean(ui && ui.experimental?.componentDetection)
  const isListed = hasNuxtModule('@nuxt/ui', nuxt)
  const find = isInstalled(nuxt)
  const missing: string[] = []
  for (const name of Object.keys(PACKAGES)) if (!await find(name)) missing.push(name)
  if (!isListed && !missing.includes('@nuxt/ui')) await installModule('@nuxt/ui', {}, nuxt)
  const what = 'is not installed, but `nuxt-auto-api/admin` requires it'
  const problems = missing.map(name => ({ where: name, what, instead: `Run \`${PACKAGES[name]}\`.` }))
  return { isListed, detectsComponents, problems }
}
