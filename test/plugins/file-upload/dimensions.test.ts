/** The width and the height of images, byte for byte: every form of each format, and images that are cut or invalid. */
import { describe, expect, it } from 'vitest'
import {
  avifSize, bmpSize, gifSize, jpegSize, pngSize, webpSize, type ReadSize,
} from '../../../src/runtime/plugins/file-upload/content/dimensions'

/** The bytes are in the middle of a larger buffer, as they are when they come from a socket. */
function bytesOf(hex: string): Uint8Array {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  return Uint8Array.from([1, 2, 3, ...bytes, 4, 5, 6]).subarray(3, 3 + bytes.byteLength)
}
const ascii = (text: string) => Buffer.from(text, 'latin1').toString('hex')
const zeros = (length: number) => '00'.repeat(length)

const PNG = `89504e470d0a1a0a 0000000d ${ascii('IHDR')}`
const WEBP = `${ascii('RIFF')} 00000000 ${ascii('WEBP')}`
const FRAME = '0011 08 0003 0104'
const ISPE = `${ascii('ispe')} 00000000`

describe.each<[string, ReadSize, string, width: number, height: number]>([
  ['a PNG', pngSize, `${PNG} 00010002 00030004`, 65_538, 196_612],
  ['a GIF', gifSize, `${ascii('GIF89a')} 0102 0304`, 513, 1027],
  ['a bitmap with the first header', bmpSize, `${ascii('BM')} ${zeros(12)} 0c000000 0aff 14ff ${zeros(4)}`, 65_290, 65_300],
  ['a bitmap with a later header', bmpSize, `${ascii('BM')} ${zeros(12)} 28000000 0a000100 14000200`, 65_546, 131_092],
  ['a bitmap from top to bottom', bmpSize, `${ascii('BM')} ${zeros(12)} 28000000 f6ffffff ecffffff`, 10, 20],
  ['a lossy WebP, whose upper bits are a scale', webpSize, `${WEBP} ${ascii('VP8 ')} ${zeros(10)} 0ac0 1480`, 10, 20],
  ['a lossless WebP', webpSize, `${WEBP} ${ascii('VP8L')} ${zeros(5)} 00c0ffff ${zeros(5)}`, 1, 16_384],
  ['a lossless WebP that is wide', webpSize, `${WEBP} ${ascii('VP8L')} ${zeros(5)} ff3f0000 ${zeros(5)}`, 16_384, 1],
  ['an extended WebP', webpSize, `${WEBP} ${ascii('VP8X')} ${zeros(8)} 452301 9a7806`, 0x012346, 0x06789B],
  ['a JPEG', jpegSize, `ffd8 ffc0 ${FRAME}`, 260, 3],
  ['an AVIF', avifSize, `${ISPE} 00010002 00000003`, 65_538, 3],
])('%s', (_name, read, hex, width, height) => {
  const bytes = bytesOf(hex)

  it('has the size that its bytes contain', () => expect(read(bytes)).toEqual({ width, height }))

  it('needs all bytes up to its size', () => {
    for (let length = 0; length < bytes.byteLength; length++) expect(read(bytes.subarray(0, length))).toBe('more')
  })
})

it.each<[string, ReadSize, string]>([
  ['a PNG whose first chunk is another one', pngSize, `89504e470d0a1a0a 0000000d ${ascii('IDAT')} ${zeros(8)}`],
  ['a WebP with a chunk of an unknown name', webpSize, `${WEBP} ${ascii('VP9 ')} ${zeros(14)}`],
  ['a JPEG without a marker where one must be', jpegSize, `ffd8 00c0 ${FRAME}`],
  ['a JPEG that ends before its size', jpegSize, `ffd8 ffd9 0002 ffc0 ${FRAME}`],
  ['a JPEG with image data before its size', jpegSize, `ffd8 ffda 0002 ffc0 ${FRAME}`],
  ['a JPEG with a segment that is shorter than its length', jpegSize, `ffd8 ffe0 0001 ffc0 ${FRAME}`],
])('finds that %s is not valid', (_name, read, hex) => expect(read(bytesOf(hex))).toBeUndefined())

describe('a JPEG', () => {
  const hex = (value: number) => value.toString(16).padStart(2, '0')

  it.each([0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF])('has its size after the marker %i', marker =>
    expect(jpegSize(bytesOf(`ffd8 ff${hex(marker)} ${FRAME}`))).toEqual({ width: 260, height: 3 }))

  it.each([0x02, 0xBF, 0xC4, 0xC8, 0xCC, 0xDB, 0xE1, 0xFE])('can have a segment with the marker %i before its size', (marker) => {
    for (const [length, content] of [['0002', ''], ['0005', '112233']] as const)
      expect(jpegSize(bytesOf(`ffd8 ff${hex(marker)} ${length} ${content} ffc0 ${FRAME}`))).toEqual({ width: 260, height: 3 })
  })

  it.each([0x01, 0xD0, 0xD7, 0xD8])('can have the marker %i, which has no segment, before its size', marker =>
    expect(jpegSize(bytesOf(`ffd8 ff${hex(marker)} ffc0 ${FRAME}`))).toEqual({ width: 260, height: 3 }))

  it('can have any number of fill bytes before a marker', () =>
    expect(jpegSize(bytesOf(`ffd8 ${'ff'.repeat(20)} ffc0 ${FRAME}`))).toEqual({ width: 260, height: 3 }))
})

describe('an AVIF with several images', () => {
  const small = `${ISPE} 00000064 00000001`
  const large = `${ISPE} 00000014 00000014`

  it.each([['last', small + large], ['first', large + small]])('has the size of the largest, also if it is the %s', (_place, hex) =>
    expect(avifSize(bytesOf(`00 ${hex} 00`))).toEqual({ width: 20, height: 20 }))

  it('finds a box after letters that begin like one', () => {
    for (const letters of ['isisp', 'i', 'is', 'isp', 'xspe'])
      expect(avifSize(bytesOf(`${ascii(letters)} ${'ff'.repeat(20)} ${small}`))).toEqual({ width: 100, height: 1 })
  })
})
