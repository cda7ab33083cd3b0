/** Checks the options of the admin and resolves them to its settings. */
import { isObject } from '../../runtime/shared/is-object'
import { inspect } from 'node:util'
import { OPERATIONS } from '../../runtime/shared/operations'
import { didYouMean } from '../../runtime/shared/suggest'
import type { AdminBranding, AdminConfig, AdminPageOptions, AdminResourceOptions } from '../../runtime/shared/types/admin'
import type { Problem } from '../problem'
import { checkValues, componentOf, objectOf, type Values } from './check'
import { BRANDING, FIELD, OPTIONS, PAGE, RESOURCE } from './rules'

/** A page of the app inside the admin. */
export interface CustomPage {
  /** Path below the prefix of the admin, such as `/reports`. */
  path: string
  /** Text in the navigation. */
  label: string
  /** The name of an icon, such as `i-lucide-chart-bar`. */
  icon?: string
  /** Path of the page's component, with an alias or absolute: `~/admin/reports.vue`. */
  component: string
  /**
   * The permissions that the page requires, as `'<resource>:<operation>'`. The caller needs all of them, with the rules of the API: its
   * fallbacks and the tenant apply. `[]` shows the page to everyone who can open the admin.
   */
  permissions: string[]
}

/**
 * Options of the admin, under `autoAdmin` in `nuxt.config`.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api', 'nuxt-auto-api/admin'],
 *   autoAdmin: { middleware: 'staff', branding: { name: 'Newsroom' } },
 * })
 */
export interface AdminOptions {
  /**
   * Path of the admin. It starts with a slash and has no parameters.
   * @default '/admin'
   */
  prefix?: string
  /**
   * The name of a route middleware of the app that decides who opens the admin. It runs on the server before a page renders, and in the
   * browser before each navigation. Without it, signed-in callers who can create, update or delete in at least one resource enter.
   */
  middleware?: string
  /** Pages of the app inside the admin. */
  customPages?: CustomPage[]
  /** How resources are shown, by name. */
  resources?: Record<string, AdminResourceOptions>
  /** The name and the logo in the sidebar. */
  branding?: AdminBranding
}

export interface ResolvedAdmin {
  readonly prefix: string
  readonly middleware?: string
  readonly config: AdminConfig
  /** The absolute path of each component, once. */
  readonly components: readonly string[]
  readonly problems: readonly Problem[]
}

/**
 * Checks the options. It skips removed options, because `removed.ts` reports them.
 * @param findPath returns the path of a component's file, or `undefined` if no file exists
 */
export function resolveAdminOptions(options: Values, findPath: (path: string) => string | undefined): ResolvedAdmin {
  const problems = checkValues(options, OPTIONS, 'autoAdmin')
  const pages = listOf(options.customPages).map((page, index): AdminPageOptions => {
    const where = `autoAdmin.customPages[${index}]`
    if (!isObject(page)) {
      problems.push({ where, what: `is ${inspect(page, { depth: 0 })}`, instead: 'Use an object with `path`, `label` and `component`.' })
      return EMPTY_PAGE
    }
    const found = checkValues(page, PAGE, where)
    problems.push(...found)
    if (found.length > 0) return EMPTY_PAGE
    const permissions = (page.permissions as string[]).map((permission, at) =>
      readPermission(permission, `${where}.permissions[${at}]`, problems))
    const { path, label, icon } = page as unknown as AdminPageOptions
    return { path, label, icon, component: componentOf(page.component, `${where}.component`, findPath, problems), permissions }
  })
  problems.push(...findRepeatedPaths(pages))
  const resources = Object.entries(objectOf(options.resources)).map(([name, value]): [string, AdminResourceOptions] =>
    [name, resolveResource(value, `autoAdmin.resources.${name}`, findPath, problems)])
  problems.push(...checkValues(objectOf(options.branding), BRANDING, 'autoAdmin.branding'))

  const fields = resources.flatMap(([, { fields = {} }]) => Object.values(fields))
  const components = [...pages, ...fields].flatMap(({ component }) => component || [])

  const { prefix = '/admin', middleware, branding } = options as AdminOptions
  return {
    prefix, middleware, problems,
    components: [...new Set(components)],
    config: {
      hasMiddleware: middleware !== undefined,
      branding: objectOf(branding) as AdminBranding,
      pages,
      resources: Object.fromEntries(resources),
    },
  }
}

const EMPTY_PAGE: AdminPageOptions = { path: '', label: '', component: '', permissions: [] }

const listOf = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : []

function resolveResource(
  value: unknown, where: string, findPath: (path: string) => string | undefined, problems: Problem[],
): AdminResourceOptions {
  if (!isObject(value)) {
    problems.push({ where, what: `is ${inspect(value, { depth: 0 })}`, instead: 'Use an object.' })
    return {}
  }
  problems.push(...checkValues(value, RESOURCE, where))
  const fields = Object.entries(objectOf(value.fields)).map(([name, field]): [string, object] => {
    const at = `${where}.fields.${name}`
    problems.push(...checkValues(objectOf(field), FIELD, at))
    const { component, ...options } = objectOf(field)
    return [name, {
      ...options,
      ...component !== undefined && { component: componentOf(component, `${at}.component`, findPath, problems) },
    }]
  })
  return { ...value, ...value.fields !== undefined && { fields: Object.fromEntries(fields) } }
}

/** Splits `posts:update`. A resource name has no colon. */
function readPermission(permission: string, where: string, problems: Problem[]): readonly [string, string] {
  const [resource = '', operation = '', ...rest] = permission.split(':')
  if (resource === '' || rest.length > 0 || !(OPERATIONS as readonly string[]).includes(operation)) {
    const closest = didYouMean(operation, OPERATIONS).trim()
    problems.push({
      where, what: `is ${inspect(permission)}`,
      instead: `Use \`<resource>:<operation>\`, with one of ${OPERATIONS.join(', ')}.${closest && ` ${closest}`}`,
    })
  }
  return [resource, operation]
}

function findRepeatedPaths(pages: readonly AdminPageOptions[]): Problem[] {
  return pages.flatMap(({ path }, index) => path !== '' && pages.findIndex(page => page.path === path) < index
    ? [{ where: `autoAdmin.customPages[${index}].path`, what: `is \`${path}\`, as of another page`, instead: 'Choose another path.' }]
    : [])
}
