/** What a file is: its content, its declared type and its name, in every combination; broken and hostile files; multipart bodies. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pngSize, jpegSize, gifSize, webpSize, avifSize, bmpSize } from '../../../src/runtime/plugins/file-upload/content/dimensions'
import { openMultipart } from '../../../src/runtime/plugins/file-upload/content/multipart'
import { cleanName } from '../../../src/runtime/plugins/file-upload/content/name'
import { receiveFile, type FileLimits } from '../../../src/runtime/plugins/file-upload/content/receive'
import { FILE_TYPES, typesOf } from '../../../src/runtime/plugins/file-upload/content/types'
import { gif, jpeg, png } from './bytes'
import { isFull } from '../../support/tiers'

const RUNS = isFull ? 3000 : 150

const accept = (...entries: string[]): FileLimits => ({ accepted: entries.flatMap(typesOf), maxSize: 5_000_000, maxPixels: 1_000_000 })

async function* chunked(bytes: Uint8Array | string, size = 65_536): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(bytes as never)
  for (let at = 0; at < all.byteLength; at += size) yield all.subarray(at, at + size)
}

interface Received {
  type?: string
  name?: string
  size?: number
  status?: number
  code?: string
  reason?: string
  width?: number
  height?: number
}

async function receive(
  bytes: Uint8Array | string,
  claim: { name?: string, type?: string },
  limits: FileLimits,
  size?: number,
): Promise<Received> {
  try {
    const file = await receiveFile(chunked(bytes, size), claim, limits)
    let length = 0
    for await (const chunk of file.chunks) length += chunk.byteLength
    expect(length).toBe(Buffer.from(bytes as never).byteLength)
    return { type: file.type, name: file.name, size: (await file.finish()).size, ...file.dimensions }
  }
  catch (error) {
    const { status, data } = error as { status: number, data: { code: string, reason?: string } }
    if (!data) throw error
    return { status, code: data.code, reason: data.reason }
  }
}

const hex = (text: string, length = 200) => Buffer.concat([Buffer.from(text.replaceAll(' ', ''), 'hex'), Buffer.alloc(length, 3)])
const ftyp = (major: string, ...compatible: string[]) => {
  const brands = Buffer.from(major + '\0\0\0\0' + compatible.join(''), 'latin1')
  const size = Buffer.alloc(4)
  size.writeUInt32BE(brands.byteLength + 8)
  return Buffer.concat([
    size,
    Buffer.from('ftyp'),
    brands,
    Buffer.from('....ispe\0\0\0\0\0\0\0\x0A\0\0\0\x14', 'latin1'),
    Buffer.alloc(100, 4),
  ])
}
const zipOf = (name: string, content = 'x') =>
  Buffer.concat([Buffer.from('504b030414000000000000000000', 'hex'), Buffer.alloc(16), Buffer.from(name + content), Buffer.alloc(200, 5)])
const ODT = 'application/vnd.oasis.opendocument.text'

/** Files that begin like their type, with a name of the type. */
const SAMPLES: Readonly<Record<string, Uint8Array>> = {
  'image/png': png(),
  'image/jpeg': jpeg(),
  'image/gif': gif(),
  'image/webp': Buffer.concat([Buffer.from('RIFF....WEBPVP8X\x0A\0\0\0\0\0\0\0\x09\0\0\x13\0\0', 'latin1'), Buffer.alloc(50)]),
  'image/avif': ftyp('avif', 'mif1', 'miaf'),
  'image/heic': ftyp('heic', 'mif1'),
  'image/bmp': hex('424d 00000000 00000000 36000000 28000000 0a000000 14000000'),
  'video/mp4': ftyp('isom', 'mp42'),
  'video/quicktime': ftyp('qt  '),
  'video/webm': Buffer.from('\x1A\x45\xDF\xA3....webm' + 'x'.repeat(99), 'latin1'),
  'video/x-matroska': Buffer.from('\x1A\x45\xDF\xA3....matroska' + 'x'.repeat(99), 'latin1'),
  'audio/mpeg': hex('494433 0300'),
  'audio/mp4': ftyp('M4A ', 'isom'),
  'audio/aac': hex('fff1 5080'),
  'audio/ogg': hex('4f676753'),
  'audio/wav': Buffer.from('RIFF....WAVEfmt ' + 'x'.repeat(99), 'latin1'),
  'audio/flac': hex('664c6143'),
  'application/pdf': Buffer.from('%PDF-1.7\n…'),
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': zipOf('[Content_Types].xml'),
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': zipOf('xl/workbook.xml'),
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': zipOf('_rels/.rels'),
  [ODT]: zipOf('mimetype', ODT),
  'application/vnd.oasis.opendocument.spreadsheet': zipOf('mimetype', 'application/vnd.oasis.opendocument.spreadsheet'),
  'application/vnd.oasis.opendocument.presentation': zipOf('mimetype', 'application/vnd.oasis.opendocument.presentation'),
  'application/epub+zip': zipOf('mimetype', 'application/epub+zip'),
  'application/zip': zipOf('photos/a.jpg'),
  'application/gzip': hex('1f8b08'),
  'application/x-7z-compressed': hex('377abcaf271c'),
  'text/plain': Buffer.from('Dear reader, 3 < 4 and 5 > 4.\n'),
  'text/csv': Buffer.from('a,b\r\n1,2\r\n'),
  'text/markdown': Buffer.from('# Title\n\n> quote\n'),
  'application/json': Buffer.from('{"a": "<b>"}'),
  'image/svg+xml': Buffer.from('<?xml version="1.0"?><!-- c --><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  'text/html': Buffer.from('<!DOCTYPE html><html><script>alert(1)</script></html>'),
  'application/xml': Buffer.from('<?xml version="1.0"?><feed><entry/></feed>'),
}
const ALL = accept(...FILE_TYPES.map(({ type }) => type))
const nameOf = (type: string) => `file.${FILE_TYPES.find(known => known.type === type)!.extensions[0]}`

describe('every type', () => {
  it('has a sample', () => expect(Object.keys(SAMPLES)).toEqual(FILE_TYPES.map(({ type }) => type)))

  it.each(Object.keys(SAMPLES))('%s is accepted with its own name, and with any name of it as declared type', async (type) => {
    const { aliases = [] } = FILE_TYPES.find(known => known.type === type)!
    for (const declared of [undefined, '', 'application/octet-stream', type, ...aliases])
      expect(await receive(SAMPLES[type]!, { name: nameOf(type), type: declared }, accept(type))).toMatchObject({
        type,
        name: nameOf(type),
      })
    for (const size of [1, 7]) expect(await receive(SAMPLES[type]!, { name: nameOf(type) }, accept(type), size)).toMatchObject({ type })
  })

  it.each(Object.keys(SAMPLES))('%s is refused by a field for every other type', async (type) => {
    const isArchive = (name: string) => SAMPLES[name]!.subarray(0, 2).toString() === SAMPLES['application/zip']!.subarray(0, 2).toString()
    for (const other of Object.keys(SAMPLES).filter(other => other !== type)) {
      const { status, type: found } = await receive(SAMPLES[type]!, {}, accept(other))
      // Text of one kind is text of every kind, and a document can be an archive.
      const isText = [type, other].every(name => FILE_TYPES.find(known => known.type === name)!.text === 'plain')
      const isPackage = isArchive(type) && isArchive(other)
      if (!isText && !isPackage) expect({ other, status, found }).toEqual({ other, status: 415, found: undefined })
    }
  })

  it('is refused if the declared type or the name contradicts the content', async () => {
    for (const type of Object.keys(SAMPLES)) {
      for (const other of Object.keys(SAMPLES).filter(other => other !== type)) {
        const isText = [type, other].every(name => FILE_TYPES.find(known => known.type === name)!.text === 'plain')
        const isPackage = SAMPLES[type]!.subarray(0, 2).toString() === 'PK' && SAMPLES[other]!.subarray(0, 2).toString() === 'PK'
        if (isText || isPackage) continue
        expect(await receive(SAMPLES[type]!, { name: nameOf(type), type: other }, ALL)).toEqual({
          status: 415,
          code: 'UNSUPPORTED_MEDIA_TYPE',
          reason: 'type',
        })
        expect(await receive(SAMPLES[type]!, { name: nameOf(other) }, ALL)).toEqual({
          status: 415,
          code: 'UNSUPPORTED_MEDIA_TYPE',
          reason: 'name',
        })
      }
    }
  })

  it.each(['php', 'html', 'svg', 'js', 'exe', 'htaccess', 'PHP', 'Html', 'svgz', 'xht'])(
    'is refused with the extension .%s',
    async (extension) => {
      expect(await receive(png(), { name: `photo.png.${extension}` }, accept('image/*'))).toMatchObject({ status: 415, reason: 'name' })
    },
  )

  it('is never SVG, HTML or XML for a wildcard', () => {
    for (const wildcard of ['image/*', 'text/*', 'application/*'])
      expect(typesOf(wildcard).some(({ text }) => text === 'markup')).toBe(false)
    expect(typesOf('*/*')).toEqual([])
  })
})

describe('text', () => {
  const TEXT = accept('text/plain')
  it.each([
    ['a tag at the beginning', ' \n\uFEFF<b>x'],
    ['a page', 'text <html>'],
    ['a script far from the beginning', 'x'.repeat(70_000) + '<script>'],
    ['a script between two chunks', 'x'.repeat(65_530) + '<sCrIpt src=x>'],
    ['an SVG', 'x <svg onload=alert(1)>'],
    ['a doctype', 'x<!DoCtYpE html>'],
    ['PHP', 'x <?php echo 1'],
    ['a NUL', 'a\0b'],
    ['a control', 'a\x01b'],
    ['an escape', '\x1Bc\x1C'],
    ['a NUL far from the beginning', 'x'.repeat(70_000) + '\0'],
    ['Latin-1', Buffer.from('f\xFCr', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFFtext', 'utf16le')],
    ['half a character at the end', Buffer.from('für').subarray(0, 2)],
    ['half a character far from the beginning', Buffer.concat([Buffer.alloc(70_000, 97), Buffer.from([0xC3])])],
    ['an overlong character', Buffer.from([0xC0, 0xBC])],
  ])('is refused with %s', async (_case, bytes) => {
    expect(await receive(bytes, { name: 'a.txt' }, TEXT)).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'content' })
  })

  it('can be empty, and can have characters that are split between chunks', async () => {
    expect(await receive('', { name: 'a.txt' }, TEXT)).toMatchObject({ type: 'text/plain', size: 0 })
    expect(await receive('äöü€😀'.repeat(2000), { name: 'a.txt' }, TEXT, 3)).toMatchObject({ type: 'text/plain' })
  })

  it('of one kind is decided by the name', async () => {
    const kinds = accept('text/plain', 'text/csv', 'text/markdown', 'application/json')
    for (const [name, type] of [
      ['a.txt', 'text/plain'],
      ['a.csv', 'text/csv'],
      ['a.md', 'text/markdown'],
      ['a.json', 'application/json'],
      ['a', 'text/plain'],
    ] as const)
      expect(await receive('a', { name, type: 'text/plain' }, kinds)).toMatchObject({ type })
    expect(await receive('a', { name: 'a.csv', type: 'application/vnd.ms-excel' }, kinds)).toMatchObject({ type: 'text/csv' })
    expect(await receive('a', { name: 'a.csv', type: 'application/json' }, kinds)).toMatchObject({ status: 415, reason: 'name' })
  })
})

describe('images', () => {
  const IMAGES = accept('image/*')
  it.each([
    ['a PNG', png(1000, 1001)],
    ['a PNG of the largest numbers', png(0xFFFFFFFF, 0xFFFFFFFF)],
    ['a JPEG', jpeg(65_000, 65_000)],
    ['a GIF', gif(65_535, 65_535)],
    ['a JPEG after much metadata', jpeg(1001, 1000, 500_000)],
    [
      'an AVIF with a small and a large image',
      Buffer.concat([ftyp('avif'), Buffer.from('ispe\0\0\0\0\0\0\xFF\xFF\0\0\xFF\xFF', 'latin1')]),
    ],
  ])('with too many pixels are refused unread: %s', async (_case, head) => {
    let read = 0
    const source = (async function* () {
      for await (const chunk of chunked(head)) yield ((read += chunk.byteLength), chunk)
      for (;;) yield ((read += 65_536), new Uint8Array(65_536))
    })()
    await expect(receiveFile(source, {}, { ...IMAGES, maxSize: 1e9 })).rejects.toMatchObject({
      status: 400,
      data: { code: 'IMAGE_TOO_LARGE', maxPixels: 1_000_000 },
    })
    expect(read).toBeLessThanOrEqual(Math.max(4096, head.byteLength * 2) + 65_536 * 2)
  })

  it.each([
    ['a PNG without its header', hex('89504e470d0a1a0a 0000000d 49444154')],
    ['a PNG without pixels', png(0, 5)],
    ['a PNG that ends', png().subarray(0, 20)],
    ['a JPEG with image data before its size', hex('ffd8 ffda 0004 0000')],
    ['a JPEG that ends', hex('ffd8ff', 0)],
    ['a JPEG with garbage', hex('ffd8ff e0 0002 00')],
    ['a JPEG with a segment of no length', hex('ffd8 ffe0 0000')],
    ['a WebP of an unknown form', Buffer.from('RIFF....WEBPVP9 ' + 'x'.repeat(50))],
    ['an AVIF without a size', Buffer.concat([ftyp('avif').subarray(0, 20), Buffer.alloc(2_000_000)])],
    ['a JPEG of metadata only', jpeg(10, 10, 3_000_000)],
  ])('without a size are refused: %s', async (_case, bytes) => {
    expect(await receive(bytes, {}, IMAGES)).toMatchObject({ status: 415 })
  })

  it('report their size', async () => {
    for (const type of Object.keys(SAMPLES).filter(type => type.startsWith('image/') && !type.includes('svg')))
      expect(await receive(SAMPLES[type]!, {}, IMAGES)).toMatchObject({ type, width: 10, height: 20 })
    expect(await receive(jpeg(30, 40, 300_000), {}, IMAGES)).toMatchObject({ width: 30, height: 40 })
  })

  it('of any bytes never throw, hang or report a negative size', () => {
    const heads = [png(), jpeg(), gif(), SAMPLES['image/webp']!, SAMPLES['image/avif']!, SAMPLES['image/bmp']!]
    fc.assert(fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 300 }), fc.nat(300), (head, noise, at) => {
      const bytes = Uint8Array.from(head)
      bytes.set(noise.subarray(0, Math.max(0, bytes.byteLength - at)), Math.min(at, bytes.byteLength))
      for (const read of [pngSize, jpegSize, gifSize, webpSize, avifSize, bmpSize]) {
        const size = read(bytes)
        if (typeof size === 'object') expect(size.width >= 0 && size.height >= 0).toBe(true)
      }
    }), { numRuns: RUNS })
  })

  it('cost little even if every byte could begin a box', () => {
    const bytes = Buffer.alloc(1024 * 1024, 'ispe')
    const start = performance.now()
    avifSize(bytes)
    expect(performance.now() - start).toBeLessThan(2000)
  })
})

describe('names', () => {
  it('are cleaned in time that grows with their length', () => {
    const start = performance.now()
    expect(cleanName(`a${'.'.repeat(200_000)}b.png`)).toMatch(/^a.*\.png$/)
    // Trying each dot as the beginning of the end takes more than 10 seconds.
    expect(performance.now() - start).toBeLessThan(2000)
  })

  it('are clean whatever the client sends', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (sent) => {
      const name = cleanName(sent)
      expect(name.length > 0 && name.length <= 150 && name.isWellFormed()).toBe(true)
      // eslint-disable-next-line no-control-regex -- the controls are what must be gone
      expect(name).not.toMatch(/[\u0000-\u001F\u007F/\\<>:"|?*\u202A-\u202E\u2066-\u2069]|^[\s.]|[\s.]$/)
      expect(cleanName(name)).toBe(name)
    }), { numRuns: RUNS })
  })
})

describe('a multipart body', () => {
  const TYPE = 'multipart/form-data; boundary=b'
  const part = (headers: string, content = 'content') => `--b\r\n${headers}\r\n\r\n${content}\r\n`
  const FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"'

  async function read(body: Uint8Array | string, type = TYPE, size?: number) {
    const { claim, chunks } = await openMultipart(chunked(body, size), type)
    const all: Uint8Array[] = []
    for await (const chunk of chunks) all.push(chunk)
    return { ...claim, content: Buffer.concat(all).toString('latin1') }
  }

  it.each([
    ['a file', `${part(FILE)}--b--\r\n`, TYPE],
    ['text before and after it', `preamble\r\n${part(FILE)}--b--\r\nepilogue`, TYPE],
    ['no line break at the end', `${part(FILE)}--b--`, TYPE],
    ['a quoted boundary', `${part(FILE)}--b--`, 'multipart/form-data; charset=utf-8; boundary="b"'],
    ['spaces after the boundary', `--b  \r\n${FILE}\r\n\r\ncontent\r\n--b--`, TYPE],
    ['other headers', `${part(`X-A: b\r\n${FILE}`)}--b--`, TYPE],
  ])('can have %s', async (_case, body, type) => {
    expect(await read(body, type)).toEqual({ name: 'a.txt', type: undefined, content: 'content' })
    expect(await read(body, type, 1)).toEqual({ name: 'a.txt', type: undefined, content: 'content' })
  })

  it('reads the type and the name', async () => {
    expect(
      await read(
        `${part('content-disposition: form-data; name=x; filename="C:\\dir\\a \\"b\\".png"\r\nContent-Type: Image/PNG; x=y')}--b--`,
      ),
    ).toEqual({ name: 'C:\\dir\\a "b".png', type: 'image/png', content: 'content' })
  })

  it.each([
    ['no part', '--b--\r\n'],
    ['nothing', ''],
    ['no delimiter', 'x'.repeat(100_000)],
    ['a field', `${part('Content-Disposition: form-data; name="a"')}--b--`],
    ['a field before the file', `${part('Content-Disposition: form-data; name="a"')}${part(FILE)}--b--`],
    ['a field after the file', `${part(FILE)}${part('Content-Disposition: form-data; name="a"')}--b--`],
    ['two files', `${part(FILE)}${part(FILE)}--b--`],
    ['no end', part(FILE)],
    ['an end in the headers', `--b\r\n${FILE}`],
    ['no headers', '--b\r\n\r\ncontent\r\n--b--'],
    ['long headers', `${part(`X-A: ${'a'.repeat(20_000)}\r\n${FILE}`)}--b--`],
    ['base64', `${part(`${FILE}\r\nContent-Transfer-Encoding: base64`)}--b--`],
    ['10,000 fields', part('Content-Disposition: form-data; name="a"', 'x').repeat(10_000)],
    ['another disposition', `${part('Content-Disposition: attachment; filename="a"')}--b--`],
  ])('is refused with %s', async (_case, body) => {
    for (const size of [undefined, 1, 7])
      await expect(read(body, TYPE, size)).rejects.toMatchObject({ status: 400, data: { code: 'INVALID_BODY' } })
  })

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    'multipart/form-data; boundary=a b',
    'multipart/form-data; boundary="a\r\nb"',
  ])('is refused with the type %j', async (type) => {
    await expect(read(`${part(FILE)}--b--`, type)).rejects.toMatchObject({ status: 400, data: { code: 'INVALID_BODY' } })
  })

  it('keeps every byte of any content, in chunks of any size', async () => {
    const pieces = fc.constantFrom('\r\n', '--b', '-', '\r', '\n', '\r\n--', '\r\n--B', 'x', '\0', '\xFF')
    await fc.assert(fc.asyncProperty(fc.array(pieces, { maxLength: 40 }), fc.integer({ min: 1, max: 40 }), async (content, size) => {
      const text = content.join('').replaceAll('\r\n--b', '\r\n--')
      expect((await read(Buffer.from(`${part(FILE, text)}--b--`, 'latin1'), TYPE, size)).content).toBe(text)
    }), { numRuns: RUNS })
  })
})

describe('the size', () => {
  it.each([[99, 200], [100, 200], [101, 413], [500_000, 413]])('of %i bytes against 100 is a %i', async (length, status) => {
    for (const size of [1, 64, 65_536])
      expect((await receive('x'.repeat(length), {}, { ...accept('text/plain'), maxSize: 100 }, size)).status ?? 200).toBe(status)
  })
})
