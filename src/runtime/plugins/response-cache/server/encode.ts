/** Converts plain data to text, so that different data has different text. */

/** Deeper data is not converted, so that data without an end is not either. */
const MAX_DEPTH = 50

/** Thrown for a value that can have more state than its text would contain, such as an instance of a class. */
export class NotPlainError extends Error {}

/**
 * Converts most lists of values with one call of `JSON.stringify`, which is faster and needs less memory than a text per property.
 * @throws {NotPlainError} For anything but scalars, dates, plain objects and lists of them.
 */
export function encode(values: readonly unknown[]): string {
  let missing = ''
  for (let index = 0; index < values.length; index++) {
    // JSON has no `undefined`: a list contains `null` instead.
    if (values[index] === undefined) missing += `${index},`
    else if (!isJson(values[index], MAX_DEPTH)) return encodeAny(values, MAX_DEPTH)
  }
  return missing + JSON.stringify(values)
}

/** Whether the JSON text of a value determines it. */
function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string': case 'boolean': return true
    case 'number': return Number.isFinite(value) && !Object.is(value, -0)
    case 'object': return value === null || isJsonObject(value, depth - 1)
    default: return false
  }
}

function isJsonObject(value: object, depth: number): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown
  if (depth === 0 || !(prototype === Array.prototype || prototype === Object.prototype || prototype === null)) return false
  if (prototype === Array.prototype) {
    const list = value as readonly unknown[]
    if (!isDense(list, Reflect.ownKeys(list))) return false
    for (let index = 0; index < list.length; index++) if (!isJson(list[index], depth)) return false
    return true
  }
  let count = 0
  for (const name in value) {
    if (!isJson((value as Record<string, unknown>)[name], depth)) return false
    count++
  }
  // The text has no other names, although a rule can read them.
  return Reflect.ownKeys(value).length === count
}

/** Whether the list has every index, and no name besides them and `length`, which follows the indexes. */
function isDense({ length }: readonly unknown[], names: readonly unknown[]): boolean {
  return names.length === length + 1 && names[length] === 'length'
}

/** Text is preceded by its length, so that no text can contain the end of a value. JSON text never begins like this text. */
function encodeAny(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string': return `s${value.length}:${value}`
    case 'number': return Object.is(value, -0) ? 'x-0;' : `x${value};`
    case 'bigint': return `x${value}n`
    case 'boolean': return value ? 't' : 'f'
    case 'undefined': return 'u'
    case 'object': return value === null ? 'z' : encodeObject(value, depth - 1)
    default: throw new NotPlainError()
  }
}

function encodeObject(value: object, depth: number): string {
  const prototype = Object.getPrototypeOf(value) as unknown
  const names = Reflect.ownKeys(value)
  if (depth === 0) throw new NotPlainError()
  if (prototype === Array.prototype) {
    const list = value as readonly unknown[]
    if (!isDense(list, names)) throw new NotPlainError()
    return `a${list.length}:${list.map(entry => encodeAny(entry, depth)).join('')}`
  }
  if (prototype === Date.prototype && names.length === 0) return `d${(value as Date).getTime()};`
  // A name that `Object.keys` does not list would be missing in the text.
  if ((prototype !== Object.prototype && prototype !== null) || names.length !== Object.keys(value).length) throw new NotPlainError()
  return `o${names.length}:${Object.entries(value).map(([name, entry]) => `${name.length}:${name}${encodeAny(entry, depth)}`).join('')}`
}
