/** Checks the values of the options of the admin, and of what modules add to it. */
import { inspect } from 'node:util'
import { isAbsolute } from 'pathe'
import { isObject } from '../../runtime/shared/is-object'
import { didYouMean } from '../../runtime/shared/suggest'
import { REMOVED_PATHS } from '../option-rules'
import type { Problem } from '../problem'
import { isText, type Rules } from './rules'

export type Values = Readonly<Record<string, unknown>>

export const objectOf = (value: unknown): Values => isObject(value) ? value : {}

/** Every unknown key is a problem, because a mistyped `permissions` would show a page to callers who may not see it. */
export function checkValues(values: Values, rules: Rules, where: string): Problem[] {
  const problems = Object.entries(values).flatMap(([key, value]): Problem[] => {
    const at = `${where}.${key}`
    if (value === undefined || REMOVED_PATHS.has(at.replace(/\[\d+\]/g, '[]'))) return []
    if (!Object.hasOwn(rules, key))
      return [{ where: at, what: 'is not an option', instead: didYouMean(key, Object.keys(rules)).trim() || 'Remove it.' }]
    const { fits, use } = rules[key]!
    return fits(value) ? [] : [{ where: at, what: `is ${inspect(value, { depth: 1, breakLength: Infinity })}`, instead: `Use ${use}.` }]
  })
  const missing = Object.entries(rules).filter(([key, { required }]) => required && values[key] === undefined)
  return [...problems, ...missing.map(([key, { use }]) => ({ where: `${where}.${key}`, what: 'is missing', instead: `Use ${use}.` }))]
}

/** Returns the path of a component's file; `''` if there is none, which is a problem. */
export function componentOf(
  component: unknown, where: string, findPath: (path: string) => string | undefined, problems: Problem[],
): string {
  const file = isText(component) ? findPath(component) : undefined
  // The name of a package, or a path that is relative to another file, is not absolute.
  if (file !== undefined && isAbsolute(file)) return file
  if (isText(component)) {
    const instead = 'Use the path of a component: `~/admin/reports.vue`.'
    problems.push({ where, what: `is ${inspect(component)}, which is not a file`, instead })
  }
  return ''
}
