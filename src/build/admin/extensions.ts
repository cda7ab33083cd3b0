/** What plugins add to the pages of the admin: the built-in ones, and those that modules add with the hook `autoAdmin:extend`. */
import { inspect } from 'node:util'
import { addTemplate } from '@nuxt/kit'
import { genDynamicImport } from 'knitwork'
import { SLICES } from '../../runtime/plugins/slices'
import { isObject } from '../../runtime/shared/is-object'
import { didYouMean } from '../../runtime/shared/suggest'
import type { AdminExtension, AdminPartOptions, AdminViewOptions } from '../../runtime/shared/types/admin'
import type { Problem } from '../problem'
import { checkValues, componentOf, objectOf } from './check'
import { EXTENSION, NAME, PARTS, VIEW } from './rules'

/** The argument of the hook `autoAdmin:extend`. */
export interface AdminRegistry {
  /** Adds views and parts after those of the built-in plugins. Components have absolute paths, or paths with an alias. */
  add: (extension: AdminExtension) => void
}

type View = AdminViewOptions & { readonly name: string }

export interface ResolvedExtensions {
  readonly views: readonly View[]
  readonly parts: readonly AdminPartOptions[]
  readonly queries: Readonly<Record<string, unknown>>
  readonly problems: readonly Problem[]
}

/** Names that pages of the admin have already. */
const OWN_VIEW = 'permissions'
const OWN_TAB = 'details'

/** The folders of the built-in plugins with components of the admin. */
export const pluginDirs = (resolve: (path: string) => string): string[] =>
  SLICES.flatMap(({ folder, admin }) => admin?.views || admin?.parts ? [resolve(`./runtime/plugins/${folder}/admin`)] : [])

/**
 * Collects what the built-in plugins add, then what modules add.
 * @param findPath returns the path of a component's file, or `undefined` if no file exists
 */
export async function collectExtensions(
  resolve: (path: string) => string,
  callHook: (registry: AdminRegistry) => unknown,
  findPath: (path: string) => string | undefined,
): Promise<ResolvedExtensions> {
  const added: unknown[] = []
  await callHook({ add: extension => void added.push(extension) })
  const own = SLICES.flatMap(({ folder, admin }) =>
    admin ? [resolveExtension(admin, folder, path => resolve(`./runtime/plugins/${folder}/admin/${path}`))] : [])
  const ofModules = added.map((extension, index) => resolveExtension(extension, `autoAdmin:extend[${index}]`, findPath))
  const all = [...own, ...ofModules]
  const views = all.flatMap(({ views }) => views)
  const parts = all.flatMap(({ parts }) => parts)
  const tabs = parts.flatMap(part => part.slot === 'recordTab' ? [part.name] : [])
  return {
    views, parts,
    queries: Object.assign({}, ...all.map(({ queries }) => queries)) as ResolvedExtensions['queries'],
    problems: [
      ...all.flatMap(({ problems }) => problems),
      ...findRepeated([OWN_VIEW, ...views.map(({ name }) => name)], 'a view'),
      ...findRepeated([OWN_TAB, ...tabs], 'a tab of a record'),
    ],
  }
}

function resolveExtension(extension: unknown, where: string, findPath: (path: string) => string | undefined): ResolvedExtensions {
  if (!isObject(extension)) {
    return { views: [], parts: [], queries: {}, problems: [toProblem(where, extension, 'Use an object with `views` or `parts`.')] }
  }
  const problems = checkValues(extension, EXTENSION, where)
  const views = Object.entries(objectOf(extension.views)).map(([name, view]): View => {
    const at = `${where}.views.${name}`
    problems.push(...checkValues({ name }, { name: NAME }, at), ...checkValues(objectOf(view), VIEW, at))
    return { ...view as AdminViewOptions, name, component: componentOf(objectOf(view).component, `${at}.component`, findPath, problems) }
  })
  const listed = Array.isArray(extension.parts) ? extension.parts as unknown[] : []
  const parts = listed.flatMap((part, index): AdminPartOptions[] => {
    const at = `${where}.parts[${index}]`
    const slot = String(objectOf(part).slot)
    if (!isSlot(slot)) {
      const instead = `Use one of ${Object.keys(PARTS).join(', ')}.${didYouMean(slot, Object.keys(PARTS))}`
      problems.push(toProblem(`${at}.slot`, objectOf(part).slot, instead))
      return []
    }
    problems.push(...checkValues(objectOf(part), PARTS[slot], at))
    return [{ ...part as AdminPartOptions, component: componentOf(objectOf(part).component, `${at}.component`, findPath, problems) }]
  })
  return { views, parts, queries: objectOf(extension.queries), problems }
}

const isSlot = (slot: string): slot is AdminPartOptions['slot'] => Object.hasOwn(PARTS, slot)

const toProblem = (where: string, value: unknown, instead: string): Problem =>
  ({ where, what: `is ${inspect(value, { depth: 0 })}`, instead })

function findRepeated(names: readonly string[], kind: string): Problem[] {
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) < index))
  return [...repeated].map((name) => {
    const what = `adds ${kind} with the name \`${name}\`, which exists already`
    return { where: 'autoAdmin:extend', what, instead: 'Choose another name.' }
  })
}

/** Generates `#build/auto-admin/extensions`. The browser loads the file of a component when a page shows it. */
export function addExtensions(extensions: () => ResolvedExtensions): void {
  addTemplate({ filename: 'auto-admin/extensions.ts', write: true, getContents: () => generateExtensions(extensions()) })
}

export function generateExtensions({ views, parts, queries }: Omit<ResolvedExtensions, 'problems'>): string {
  const toEntry = ({ component, ...rest }: View | AdminPartOptions) =>
    `\n  ${JSON.stringify(rest).slice(0, -1)}, load: ${genDynamicImport(component)} as never },`
  return [
    'import type { Component } from \'vue\'',
    'interface Loaded { readonly load: () => Promise<{ readonly default: Component }> }',
    'interface View extends Loaded {',
    '  readonly name: string, readonly label: string, readonly icon?: string, readonly replaces?: string',
    '}',
    'interface Part extends Loaded {',
    '  readonly slot: string, readonly features?: readonly string[], readonly tool?: string',
    '  readonly name?: string, readonly label?: string',
    '}',
    `export const views: readonly View[] = [${views.map(toEntry).join('')}\n]`,
    `export const parts: readonly Part[] = [${parts.map(toEntry).join('')}\n]`,
    `export const queries: Readonly<Record<string, unknown>> = ${JSON.stringify(queries)}`,
    '',
  ].join('\n')
}
