/** Converts plain data to text, so that different data has different text. */

/** Deeper data is not converted, so that data without an end is not either. */
const MAX_DEPTH = 50

/** Thrown for a value that can have more state than its text would contain, such as an instance of a class. */
export class NotPlainError extends Error {}

/** @throws {NotPlainError} For anything but scalars, dates, plain objects and lists of them. */
export function encode(value: unknown, depth = MAX_DEPTH): string {
  switch (typeof value) {
    case 'string': return JSON.stringify(value)
    case 'number': return Object.is(value, -0) ? '-0' : String(value)
    case 'bigint': return `${value}n`
    case 'boolean': case 'undefined': return String(value)
    case 'object': return value === null ? 'null' : encodeObject(value, depth - 1)
    default: throw new NotPlainError()
  }
}

function encodeObject(value: object, depth: number): string {
  const prototype = Object.getPrototypeOf(value) as unknown
  const names = Reflect.ownKeys(value)
  if (depth === 0) throw new NotPlainError()
  if (prototype === Array.prototype) {
    const list = value as readonly unknown[]
    // The length is the only name besides the indexes.
    if (names.length !== list.length + 1) throw new NotPlainError()
    return `[${list.map(entry => encode(entry, depth)).join()}]`
  }
  if (prototype === Date.prototype && names.length === 0) return `date(${(value as Date).getTime()})`
  // A name that `Object.keys` does not list would be missing in the text, although a rule can read it.
  if ((prototype !== Object.prototype && prototype !== null) || names.length !== Object.keys(value).length) throw new NotPlainError()
  return `{${Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}:${encode(entry, depth)}`).join()}}`
}
