/**
 * Puts the icons of the admin's own pages into a file that only these pages load. Otherwise the browser requests each icon when it appears,
 * and on Nuxt 5 these requests return nothing: Nitro 3 removes their query before the handler of `@nuxt/icon` reads it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { addTemplate, tryResolveModule } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { join } from 'pathe'
import { isInstalled } from '../peer-dependencies'
import type { ResolvedExtensions } from './extensions'

/** A set of icons, as the packages `@iconify-json/*` contain it. */
interface IconSet {
  readonly prefix: string
  readonly icons: Readonly<Record<string, object>>
  readonly aliases?: Readonly<Record<string, { readonly parent: string }>>
}

const COLLECTION = 'lucide'
const NAME = new RegExp(`\\bi-${COLLECTION}-([a-z0-9]+(?:-[a-z0-9]+)*)`, 'g')

/** Generates `#build/auto-admin/icons`. It contains no icon of a custom page: those are only for callers who can open the page. */
export function addIcons(nuxt: Nuxt, adminDirs: readonly string[], extensions: () => ResolvedExtensions): void {
  addTemplate({
    filename: 'auto-admin/icons.ts',
    write: true,
    async getContents() {
      const path = await tryResolveModule(`@iconify-json/${COLLECTION}/icons.json`, nuxt.options.modulesDir)
      // Without its set, an icon comes from the server or from the internet, as the app has set up `@nuxt/icon`.
      if (!path || !await isInstalled(nuxt)('@iconify/vue')) return 'export {}\n'
      const set = JSON.parse(readFileSync(path, 'utf8')) as IconSet
      const { views, parts } = extensions()
      const sources = [
        ...adminDirs.map(readSources), ...[...views, ...parts].map(({ component }) => readFileSync(component, 'utf8')),
        JSON.stringify([views, uiIcons(nuxt)]),
      ]
      const chosen = selectIcons(set, sources.flatMap(namesOf))
      return [
        '// @ts-ignore The package is a dependency of `@nuxt/icon`.',
        'import { addCollection } from \'@iconify/vue\'',
        `addCollection(${JSON.stringify(chosen)})`,
        '',
      ].join('\n')
    },
  })
}

const namesOf = (text: string) => [...text.matchAll(NAME)].map(([, name]) => name!)

const readSources = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => /\.(?:vue|m?js|ts)$/.test(name))
  .map(name => readFileSync(join(folder, name), 'utf8')).join('\n')

/** The icons of the components of Nuxt UI. */
const uiIcons = (nuxt: Nuxt) => (nuxt.options.appConfig as { ui?: { icons?: object } }).ui?.icons ?? {}

/** Returns the icons with these names, and those that they are aliases of. Names that do not exist are left out. */
export function selectIcons({ icons, aliases = {}, ...set }: IconSet, names: readonly string[]): IconSet {
  const known = new Set(names.flatMap(name => Object.hasOwn(aliases, name) ? [name, aliases[name]!.parent] : [name]))
  const pick = <T>(from: Readonly<Record<string, T>>) =>
    Object.fromEntries([...known].sort().flatMap(name => Object.hasOwn(from, name) ? [[name, from[name]!]] : []))
  return { ...set, icons: pick(icons), aliases: pick(aliases) }
}
