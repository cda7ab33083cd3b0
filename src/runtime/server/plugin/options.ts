/** Validates the options of a plugin factory. The factory runs in `nuxt.config` first, so a wrong option fails the build. */
import { isObject } from '../../shared/is-object'
import type { OptionRule, OptionRules } from '../../shared/option-rule'
import { didYouMean } from '../../shared/suggest'
import type { ModuleImport } from '../../shared/types/module-import'

/** A value that is code: `nuxt.config` names an export with `createModuleImport(path, name)`, and the server gets the exported value. */
export type Importable<T> = T | ModuleImport

/**
 * @param where the name of the factory, or the path of a nested object: `rateLimit.operations.read`
 * @throws TypeError for the first option that is unknown, missing or invalid. The message names the option and what is valid.
 */
export function assertOptions<Options extends object>(options: Options, rules: OptionRules<Options>, where: string): void {
  if (!isObject(options))
    throw new TypeError(`[auto-api] \`${where}\` is given ${describeValue(options)}. Use an object of options.`)
  const known = Object.keys(rules)
  const unknown = Object.keys(options).find(option => !Object.hasOwn(rules, option))
  if (unknown !== undefined) {
    const names = `The options are ${known.join(', ')}.`
    throw new TypeError(`[auto-api] \`${where}.${unknown}\` is not an option.${didYouMean(unknown, known)} ${names}`)
  }
  for (const [option, { fits, use, code, required }] of Object.entries<OptionRule>(rules)) {
    const value: unknown = options[option as keyof Options]
    if (value === undefined ? !required : fits(value) || (code && isModuleImport(value))) continue
    const inConfig = code ? ' In nuxt.config, name an export with `createModuleImport(path, name)`.' : ''
    throw new TypeError(`[auto-api] \`${where}.${option}\` is ${describeValue(value)}. Use ${use}.${inConfig}`)
  }
}

/**
 * Checks an option that is a list of names.
 * @throws TypeError for the first name that is not known. The message suggests the nearest one.
 */
export function assertNames(names: readonly string[], known: readonly string[], where: string): void {
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined)
    throw new TypeError(
      `[auto-api] \`${where}\` contains ${describeValue(unknown)}.${didYouMean(unknown, known)} Use any of ${known.join(', ')}.`,
    )
}

/**
 * Returns the value of an option that can be a module import.
 * @throws When the value is still a module import: only the build replaces it.
 */
export function imported<T>(value: T, where: string): Exclude<T, ModuleImport> {
  if (!isModuleImport(value)) return value as Exclude<T, ModuleImport>
  throw new Error(
    `[auto-api] \`${where}\` is a module import, which only works in nuxt.config. Import \`${value.name}\` and pass the value itself.`,
  )
}

function isModuleImport(value: unknown): value is ModuleImport {
  return isObject(value) && '__moduleImport' in value && value.__moduleImport === true
}

/** Returns the value as it is written in code, shortened. An object is not shown, because it can contain secrets. */
export function describeValue(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value)
}

const MAX_SHOWN = 60
