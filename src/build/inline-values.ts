/** Finds what makes an inline value impossible to hand to the server: the deepest path, and what stands there. */
import { inspect } from 'node:util'

export interface InlineValue {
  /** The path from the registration: `posts.authorization.permissions.read`. */
  readonly where: string
  /** Continues the sentence: `is an inline function`. */
  readonly what: string
}

/** Points at the first function or class instance inside a value, else at the value itself. */
export function describeInline(value: unknown, where: string): InlineValue {
  return findCode(value, where, new Set()) ?? { where, what: `is ${nameOf(value)}` }
}

function findCode(value: unknown, where: string, seen: Set<unknown>): InlineValue | undefined {
  if (typeof value === 'function' || isInstance(value)) return { where, what: `is ${nameOf(value)}` }
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined

  seen.add(value)
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    // The array's `length` and the like are not anything the reader wrote.
    if (!descriptor.enumerable) continue
    const at = Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`
    // A getter is code: asking it for its value would run it.
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

/** Whether a value carries behaviour of a class; plain objects and lists do not. */
export function isInstance(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // Objects of another realm (a config loaded elsewhere) have their own `Object.prototype`.
  return prototype !== null && Object.getPrototypeOf(prototype) !== null
}
