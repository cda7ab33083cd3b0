/** Creates UUIDs of version 7. They sort in the order of their creation. */

let lastTime = 0
let sequence = 0

/** Two UUIDs of one process never sort against the order of their creation, even within one millisecond. */
export function uuidv7(): string {
  const now = Date.now()
  if (now > lastTime) {
    lastTime = now
    sequence = crypto.getRandomValues(new Uint16Array(1))[0]! & 0x7FF
  }
  else if (++sequence > 0xFFF) {
    lastTime++
    sequence = 0
  }
  const time = lastTime.toString(16).padStart(12, '0')
  // The last 64 bits of a UUID of version 4 are the variant and 62 random bits.
  const random = crypto.randomUUID().slice(19)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${random}`
}
