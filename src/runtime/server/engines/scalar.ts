/** The values that every driver accepts unchanged. */

/** Drivers could convert every other object: older versions of mysql2 write one as `key = value`. */
export function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case 'string': case 'bigint': case 'boolean': return true
    case 'number': return Number.isFinite(value)
    case 'object': return value instanceof Date ? !Number.isNaN(value.getTime()) : ArrayBuffer.isView(value) || value instanceof ArrayBuffer
    default: return false
  }
}
