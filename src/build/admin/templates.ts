/** Generates the modules of the admin: its plugin for the server, and the settings and components of its pages. */
import { addTemplate } from '@nuxt/kit'
import { genDynamicImport, genImport, genString } from 'knitwork'
import type { AdminChunk, AdminConfig } from '../../runtime/shared/types/admin'
import type { ResolvedAdmin } from './options'

/** The components of custom pages and fields, for the server. Path relative to the build folder. */
export const COMPONENTS = 'auto-admin/components.ts'

/** Generates `#auto-admin/plugin`. Components have numbers, so that the server contains no paths of the machine that built it. */
export function generateAdminPlugin(from: string, config: AdminConfig, chunks: Readonly<Record<string, AdminChunk>>): string {
  const numbers = new Map(Object.keys(chunks).map((path, index) => [path, String(index)]))
  const numbered = JSON.stringify(config, (key, value: unknown) =>
    key === 'component' && typeof value === 'string' ? numbers.get(value) ?? value : value)
  const files = Object.fromEntries(Object.entries(chunks).map(([path, chunk]) => [numbers.get(path)!, chunk]))
  return [
    genImport(from, ['adminPlugin']),
    `export const admin = adminPlugin(${numbered}, ${JSON.stringify(files)})`,
    '',
  ].join('\n')
}

export function addAdminTemplates(admin: ResolvedAdmin): void {
  addTemplate({ filename: 'auto-admin/client.ts', write: true, getContents: ({ app }) => generateAdminClient(admin, app.middleware) })
  addTemplate({ filename: COMPONENTS, write: true, getContents: () => generateComponents(admin.config) })
}

interface Middleware { readonly name: string, readonly global?: boolean }

/** A global middleware runs anyway. A middleware that the build does not know can be added by a plugin of the app. */
function generateAdminClient({ prefix, middleware }: ResolvedAdmin, known: readonly Middleware[]): string {
  const isGlobal = known.some(({ name, global }) => global && name === middleware)
  return [
    // These modules of Nuxt have no types.
    '// @ts-ignore',
    'import { namedMiddleware as named } from \'#build/middleware\'',
    '// @ts-ignore',
    'import { buildAssetsURL as build } from \'#internal/nuxt/paths\'',
    'export const middlewareFiles: Readonly<Record<string, () => Promise<unknown>>> = named',
    'export const buildAssetsURL: (path: string) => string = build',
    `export const adminPrefix: string = ${JSON.stringify(prefix)}`,
    `export const adminMiddleware: string | undefined = ${isGlobal ? 'undefined' : JSON.stringify(middleware)}`,
    '',
  ].join('\n')
}

/** The key is the path of a page, or `<resource>.<field>`. */
function generateComponents({ pages, resources }: AdminConfig): string {
  const used = [
    ...pages.map(({ path, component }) => [path, component] as const),
    ...Object.entries(resources).flatMap(([resource, { fields = {} }]) => Object.entries(fields).flatMap(([field, { component }]) =>
      component === undefined ? [] : [[`${resource}.${field}`, component] as const])),
  ]
  return [
    'import type { Component } from \'vue\'',
    'export const components: Readonly<Record<string, () => Promise<{ readonly default: Component }>>> = import.meta.server',
    `  ? {${used.map(([key, component]) => `\n    ${genString(key)}: ${genDynamicImport(component)} as never,`).join('')}\n  }`,
    '  : {}',
    '',
  ].join('\n')
}
