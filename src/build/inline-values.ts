/** Describes values of the config that cannot be passed to the server: functions and class instances. */
import { inspect } from 'node:util'

export interface InlineValue {
  /** Path of the value: `posts.authorization.permissions.read`. */
  readonly where: string
  /** The end of a sentence whose subject is `where`: `is an inline function`. */
  readonly what: string
}

/** Describes the first function or class instance inside a value. If there is none, it describes the value itself. */
export function describeInline(value: unknown, where: string): InlineValue {
  return findCode(value, where, new Set()) ?? { where, what: `is ${nameOf(value)}` }
}

function findCode(value: unknown, where: string, seen: Set<unknown>): InlineValue | undefined {
  if (typeof value === 'function' || isInstance(value)) return { where, what: `is ${nameOf(value)}` }
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined

  seen.add(value)
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    // Skips properties that JavaScript defines, such as the `length` of an array.
    if (!descriptor.enumerable) continue
    const at = Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`
    // Reading a getter would run its code.
    const found = descriptor.get ? { where: at, what: 'is an inline getter' } : findCode(descriptor.value, at, seen)
    if (found) return found
  }
}

function nameOf(value: unknown): string {
  if (typeof value === 'function') return /^class\b/.test(Function.prototype.toString.call(value)) ? 'a class' : 'an inline function'
  if (isInstance(value)) return `an instance of \`${value.constructor?.name || 'a class'}\``
  if (Array.isArray(value)) return 'an inline list'
  return typeof value === 'object' && value !== null ? 'an inline object' : inspect(value, { depth: 0, maxStringLength: 60 })
}

/** Whether a value is an instance of a class. Plain objects and arrays are not. */
export function isInstance(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // The test does not compare with `Object.prototype`, because objects of another realm, such as a loaded config, have a different one.
  return prototype !== null && Object.getPrototypeOf(prototype) !== null
}
