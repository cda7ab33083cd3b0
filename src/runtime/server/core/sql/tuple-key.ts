import { toHex } from '../../../shared/bytes'

/** Joins the driver values of several columns into one string, for use as the key of a Map or a Set. */
export const tupleKey = (values: readonly unknown[]): string => values.map(textOf).join('\0')

/** Bytes as UTF-8 text would lose those that are no UTF-8. */
const textOf = (value: unknown) =>
  ArrayBuffer.isView(value) ? toHex(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) : String(value)
