/**
 * Reads the width and the height of an image from its first bytes. It decodes no pixels.
 *
 * `image-meta` does not fit: it reports the size after cropping, so an AVIF of 65535 × 65535 pixels with a `clap` box of 1 × 1 passes any
 * limit. And it cannot tell an invalid image from one whose size comes later.
 */

export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Returns the size, `'more'` if it is after the given bytes, or `undefined` if the image is not valid. */
export type ReadSize = (head: Uint8Array) => ImageSize | 'more' | undefined

const viewOf = (head: Uint8Array) => new DataView(head.buffer, head.byteOffset, head.byteLength)
const text = (head: Uint8Array, start: number, length = 4) => String.fromCharCode(...head.subarray(start, start + length))

/** Runs a reader on the first bytes, if there are enough of them. */
const fixed = (length: number, read: (view: DataView, head: Uint8Array) => ImageSize | undefined): ReadSize => head =>
  head.byteLength < length ? 'more' : read(viewOf(head), head)

export const pngSize = fixed(24, (view, head) =>
  text(head, 12) === 'IHDR' ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined)

export const gifSize = fixed(10, view => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }))

export const bmpSize = fixed(26, view => view.getUint32(14, true) === 12
  ? { width: view.getUint16(18, true), height: view.getUint16(20, true) }
  : { width: Math.abs(view.getInt32(18, true)), height: Math.abs(view.getInt32(22, true)) })

const WEBP: Readonly<Record<string, (view: DataView) => ImageSize>> = {
  'VP8 ': view => ({ width: view.getUint16(26, true) & 0x3FFF, height: view.getUint16(28, true) & 0x3FFF }),
  'VP8L': (view) => {
    const bits = view.getUint32(21, true)
    return { width: (bits & 0x3FFF) + 1, height: ((bits >>> 14) & 0x3FFF) + 1 }
  },
  'VP8X': view => ({
    width: (view.getUint16(24, true) | view.getUint8(26) << 16) + 1,
    height: (view.getUint16(27, true) | view.getUint8(29) << 16) + 1,
  }),
}

export const webpSize = fixed(30, (view, head) => {
  const chunk = text(head, 12)
  return Object.hasOwn(WEBP, chunk) ? WEBP[chunk]!(view) : undefined
})

/** The markers that contain the size: start of frame, without the markers of tables in the same range. */
const isFrame = (marker: number) => marker >= 0xC0 && marker <= 0xCF && ![0xC4, 0xC8, 0xCC].includes(marker)
/** Markers without a length. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xD0 && marker <= 0xD8)

/** Goes from segment to segment. Each step moves forward by at least one byte, so the loop ends. */
export const jpegSize: ReadSize = (head) => {
  const view = viewOf(head)
  for (let at = 2; ;) {
    if (at + 9 > head.byteLength) return 'more'
    if (head[at] !== 0xFF) return undefined
    const marker = head[at + 1]!
    if (marker === 0xFF) at++
    else if (isAlone(marker)) at += 2
    else if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    // The image data or the end of the image comes before any size.
    else if (marker === 0xD9 || marker === 0xDA) return undefined
    else at += 2 + view.getUint16(at + 2)
  }
}

/** Each `ispe` box contains the size of one image, such as a tile. The largest counts, because a decoder can be asked for any of them. */
export const avifSize: ReadSize = (head) => {
  const view = viewOf(head)
  let largest: ImageSize | undefined
  for (let at = 0; at + 16 <= head.byteLength; at++) {
    if (head[at] !== 0x69 || text(head, at) !== 'ispe') continue
    const size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size
  }
  return largest ?? 'more'
}
