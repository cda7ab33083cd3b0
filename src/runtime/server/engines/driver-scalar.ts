/** Detects the values that every driver accepts unchanged. */

/**
 * Whether every driver accepts the value unchanged. Drivers can convert plain objects: older mysql2 versions expand `{ key: value }` to the
 * SQL text `key = value`.
 */
export function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case 'string': case 'bigint': case 'boolean': return true
    case 'number': return Number.isFinite(value)
    case 'object': return value instanceof Date ? !Number.isNaN(value.getTime()) : ArrayBuffer.isView(value) || value instanceof ArrayBuffer
    default: return false
  }
}
