/** The values that every driver takes as they are. */

/** What drivers take as it is. Every other object could become something else on its way: older mysql2 writes one as `key = value`. */
export function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case 'string': case 'bigint': case 'boolean': return true
    case 'number': return Number.isFinite(value)
    case 'object': return value instanceof Date ? !Number.isNaN(value.getTime()) : ArrayBuffer.isView(value) || value instanceof ArrayBuffer
    default: return false
  }
}
