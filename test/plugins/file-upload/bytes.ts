/** Files for tests: the first bytes of images, with any size in pixels. */
import { createHash } from 'node:crypto'

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A PNG's beginning, with a size in pixels, filled up to a length. */
export function png(width = 10, height = 20, length = 200): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(length, 7)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

export function jpeg(width = 10, height = 20, before = 0, length = 400): Buffer {
  const segments: Buffer[] = [Buffer.from('ffd8', 'hex')]
  for (let left = before; left > 0; left -= 60_000) {
    const size = Math.min(left, 60_000)
    const segment = Buffer.alloc(size + 4, 1)
    segment.writeUInt16BE(0xFFE1)
    segment.writeUInt16BE(size + 2, 2)
    segments.push(segment)
  }
  const frame = Buffer.from('ffc00011080000000003', 'hex')
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Buffer.concat([...segments, frame, Buffer.alloc(length, 9)])
}

export const gif = (width = 10, height = 20) => {
  const bytes = Buffer.from('GIF89a\0\0\0\0' + 'x'.repeat(50), 'latin1')
  bytes.writeUInt16LE(width, 6)
  bytes.writeUInt16LE(height, 8)
  return bytes
}
