/** The package's own names, led to its sources: one table for type checks, tests and fixture apps. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Manifest {
  exports: Record<string, string | { default: string }>
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where a built entry comes from: `dist/module.mjs` from `src/module`, everything else file by file. */
const toSource = (entry: string) => root + entry.replace(/^\.\/dist\//, 'src/').replace(/(\.d)?\.m?[jt]s$/, '')

/**
 * What `package.json` exports, each entry's specifier with its source file, longest specifier first.
 * @example `{ 'nuxt-auto-api/define': '/…/src/runtime/server/define', 'nuxt-auto-api': '/…/src/module' }`
 */
export function packageAliases(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Manifest
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[`nuxt-auto-api${path.slice(1)}`, toSource(target.default)] as const])
  return Object.fromEntries(entries.sort(([a], [b]) => b.length - a.length))
}

/** Stands in for the modules the build generates, as `package.json#imports` does in the installed package. */
export const virtualModules = `${root}src/runtime/server/virtual`
