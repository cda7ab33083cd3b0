/** Real PNG images, which browsers can show. */
import { crc32, deflateSync } from 'node:zlib'

/** @param colour red, green and blue */
export function createPng(width: number, height: number, colour: readonly [number, number, number], noise?: Uint8Array): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  // 8 bits for each of three channels.
  header.set([8, 2], 8)
  const line = Buffer.concat([Buffer.from([0]), ...Array.from({ length: width }, () => Buffer.from(colour))])
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)))
  // A private chunk makes the file as large as a test needs it.
  const rest = noise ? [chunk('noIs', noise)] : []
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), ...rest, chunk('IDAT', pixels), chunk('IEND')])
}

function chunk(type: string, data: Uint8Array = new Uint8Array()): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.byteLength)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
