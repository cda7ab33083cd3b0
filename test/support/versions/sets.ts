/** The sets of versions that the tests can run with, instead of those in `package.json`. */

/** The version of each package, as npm accepts it in `package.json`. */
export type Versions = Readonly<Record<string, string>>

const NIGHTLY = '5.0.0-29830089.dc519522'

export const SETS: Readonly<Record<string, Versions>> = {
  'nuxt-4.0': { 'nuxt': '4.0.3', '@nuxt/kit': '4.0.3', '@nuxt/schema': '4.0.3' },
  // The oldest one with @nuxt/ui, and so with the admin.
  'nuxt-4.1': { 'nuxt': '4.1.3', '@nuxt/kit': '4.1.3', '@nuxt/schema': '4.1.3' },
  'nuxt-5': {
    'nuxt': `npm:nuxt-nightly@${NIGHTLY}`,
    '@nuxt/kit': `npm:@nuxt/kit-nightly@${NIGHTLY}`,
    '@nuxt/schema': `npm:@nuxt/schema-nightly@${NIGHTLY}`,
    'nitro': '3.0.260903-beta',
    'h3': '2.0.8',
    // With Vite 8.4.0 and Rolldown 1.3.3, Nuxt does not build: EXTERNAL_MODULES_CANNOT_BE_TRANSFORMED_TO_MODULES.
    'vite': '8.3.8',
    'rolldown': '1.3.2',
  },
  'drizzle-0.45.2': { 'drizzle-orm': '0.45.2' },
  'drizzle-1': { 'drizzle-orm': '1.0.0-rc.5', 'drizzle-kit': '1.0.0-rc.5' },
}

/** What an app runs once it has installed a set: a command in one of its folders. */
export const UPGRADES: Readonly<Record<string, { readonly folder: string, readonly command: readonly string[] }>> = {
  // Drizzle 1.0 keeps migrations in another form, and its migrator refuses the one of 0.45.
  'drizzle-1': { folder: 'playground', command: ['drizzle-kit', 'up'] },
}

type Field = 'dependencies' | 'peerDependencies' | 'devDependencies'

type Manifest = Readonly<Partial<Record<Field, Versions>>>

/**
 * A `package.json` with the packages of the sets as dev dependencies. A later set wins. Every other package keeps its installed version:
 * to resolve conflicts, npm would choose another version within a range.
 * @param installed returns the installed version of a package
 */
export function applySets<T extends Manifest>(manifest: T, names: readonly string[], installed: (name: string) => string): T {
  const versions: Versions = Object.assign({}, ...names.map(name => SETS[name]))
  const without = (field: Field) => Object.entries(manifest[field] ?? {}).filter(([name]) => !(name in versions))
  // A package under another name, such as `npm:drizzle-orm@…`, has an exact version.
  const pinned = (field: Field) =>
    Object.fromEntries(without(field).map(([name, version]) => [name, version.startsWith('npm:') ? version : installed(name)]))
  return {
    ...manifest,
    dependencies: pinned('dependencies'),
    peerDependencies: Object.fromEntries(without('peerDependencies')),
    devDependencies: { ...pinned('devDependencies'), ...versions },
  }
}
