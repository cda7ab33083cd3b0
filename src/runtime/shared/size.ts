/** Sizes in options: a number of bytes, or text with a unit. */

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** Converts a size to bytes. The size is a number or a text such as `'1.5 MB'`. For any other value it returns `undefined`. */
export function toBytes(value: unknown): number | undefined {
  const [, digits, unit = 'b'] = typeof value === 'string' ? /^(\d+(?:\.\d+)?) ?([kmg]?b)?$/i.exec(value) ?? [] : []
  const bytes = digits === undefined ? value : Math.floor(Number(digits) * UNITS[unit.toLowerCase()]!)
  return Number.isSafeInteger(bytes) && Number(bytes) > 0 ? bytes as number : undefined
}
