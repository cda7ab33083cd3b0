/** Names of column types that both majors use. */

/** Whether values have digits that a double cannot keep. */
export const isExactType = (type: string) => /(?:Numeric|Decimal)$/.test(type)

export const isWholeType = (type: string) => /(?:Integer|Int|BigInt53|BigSerial53|SmallSerial|Serial|Year)$/.test(type)

/** Types with a date and a time in `string` mode. */
export const isTimeTextType = (type: string) => /^(?:PgTimestamp|MySqlDateTime|MySqlTimestamp)String$/.test(type)

/** Types of bytes that Drizzle reads as UTF-8 text, which loses all other bytes. */
export const isBytesType = (type: string) => /^MySql(?:Binary|VarBinary|Blob)$/.test(type)

/** The shortest number that is stored as the same single-precision number: `0.1` for `0.10000000149011612`. */
export function toShortFloat(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === Math.fround(value)) return short
  }
  return Number(value.toPrecision(9))
}

export const toBytes = (raw: unknown): Uint8Array =>
  globalThis.Buffer.isBuffer(raw) ? raw : typeof raw === 'string' ? globalThis.Buffer.from(raw) : globalThis.Buffer.from(raw as Uint8Array)

/** Converts the elements of a Postgres array, which can be NULL. */
/** The elements of an array are read as text, which the types of both versions convert that are not here. */
export const ELEMENT_DECODERS: Readonly<Record<string, (raw: unknown) => unknown>> = {
  PgBoolean: raw => raw === true || raw === 't',
  ...Object.fromEntries(['PgInteger', 'PgSmallInt', 'PgReal', 'PgDoublePrecision'].map(type => [type, Number])),
}

export function eachElement(value: unknown, convert: (element: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(item => eachElement(item, convert))
  return value === null ? null : convert(value)
}
