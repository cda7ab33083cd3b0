/** Maps the package's entry points to their sources, for type checks, tests and fixture apps. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Manifest {
  exports: Record<string, string | { default: string }>
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The source of a built entry: `dist/module.mjs` is built from `src/module`. */
const toSource = (entry: string) => root + entry.replace(/^\.\/dist\//, 'src/').replace(/(\.d)?\.m?[jt]s$/, '')

/**
 * The source file of each specifier that `package.json` exports, longest specifier first.
 * @example `{ 'nuxt-auto-api/define': '/…/src/runtime/server/define', 'nuxt-auto-api': '/…/src/module' }`
 */
export function packageAliases(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Manifest
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[`nuxt-auto-api${path.slice(1)}`, toSource(target.default)] as const])
  return Object.fromEntries(entries.sort(([a], [b]) => b.length - a.length))
}

/** The typed stand-ins for generated modules, as `package.json#imports` resolves them in the installed package. */
export const virtualModules = `${root}src/runtime/server/virtual`

/** The module that finds the installed version of Drizzle. */
export const drizzleModule = `${root}src/runtime/server/drizzle/installed`

/** The alias that the build adds for the installed version of Drizzle. */
export const drizzleAlias = { '#auto-api/drizzle': drizzleModule }
