/** Functions on bytes that several parts need: to join chunks, and to write bytes in hexadecimal. */

/** Returns the only chunk itself. So the result must not be written to. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : copyBytes(chunks)
}

/** Joins chunks in a new array. */
export function copyBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.byteLength, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

export const toHex = (bytes: Uint8Array | ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), byte => byte.toString(16).padStart(2, '0')).join('')
