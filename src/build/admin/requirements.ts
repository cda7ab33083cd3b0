/** Finds what an app lacks for the admin, after all modules are installed. */
import { hasNuxtModule } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { join } from 'pathe'
import { INSTALL_QUERY, isInstalled } from '../peer-dependencies'
import type { Problem } from '../problem'

interface Requirement extends Problem {
  readonly isMet: (nuxt: Nuxt) => boolean | Promise<boolean>
}

const lacksPackage = (name: string, command: string): Problem =>
  ({ where: name, what: 'is not installed, but `nuxt-auto-api/admin` requires it', instead: `Run \`${command}\`.` })

const REQUIREMENTS: readonly Requirement[] = [
  { ...lacksPackage('@nuxt/ui', 'npm install @nuxt/ui tailwindcss'), isMet: nuxt => hasNuxtModule('@nuxt/ui', nuxt) },
  { ...lacksPackage('@tanstack/vue-query', INSTALL_QUERY), isMet: nuxt => isInstalled(nuxt)('@tanstack/vue-query') },
  {
    where: 'ui', what: 'is `false`, but the admin is built with Nuxt UI', instead: 'Remove the option.',
    isMet: nuxt => (nuxt.options as { ui?: unknown }).ui !== false,
  },
  {
    where: 'modules', what: 'lists `nuxt-auto-api/admin` without `nuxt-auto-api`',
    instead: 'List both: `modules: [\'nuxt-auto-api\', \'nuxt-auto-api/admin\']`.',
    isMet: nuxt => hasNuxtModule('nuxt-auto-api', nuxt),
  },
  {
    where: 'pages', what: 'is `false`, but the admin is a page', instead: 'Remove the option.',
    isMet: ({ options: { pages } }) => pages !== false && (typeof pages !== 'object' || pages.enabled !== false),
  },
  {
    where: 'builder', what: 'is not Vite', instead: 'Remove the option. The admin loads its pages from files that Vite builds.',
    isMet: ({ options: { builder } }) => typeof builder !== 'string' || /^(?:@nuxt\/)?vite(?:-builder)?$/.test(builder),
  },
]

export async function findRequirementProblems(nuxt: Nuxt): Promise<Problem[]> {
  const met = await Promise.all(REQUIREMENTS.map(({ isMet }) => isMet(nuxt)))
  return REQUIREMENTS.filter((_, index) => !met[index]).map(({ where, what, instead }) => ({ where, what, instead }))
}

/** Reports components in `pages/`. Nuxt makes each of them a page of its own, which checks no permission of the admin. */
export function findPublicComponents(nuxt: Nuxt, components: readonly string[]): Problem[] {
  const { srcDir, dir, _layers } = nuxt.options
  const layers = [{ srcDir, dir }, ..._layers.map(({ config }) => config)]
  const folders = layers.map(({ srcDir, dir }) => `${join(srcDir, dir?.pages ?? 'pages')}/`)
  return components.filter(path => folders.some(folder => path.startsWith(folder))).map(path => ({
    where: 'autoAdmin', what: `names the component ${path}, which everyone can open, because it is in \`pages/\``,
    instead: 'Move it to another folder, such as `~/admin`.',
  }))
}
