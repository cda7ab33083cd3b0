/** The type of a file: by which bytes each type is recognized, which markup browsers could run, and what the client's words decide. */
import { describe, expect, it } from 'vitest'
import { hasBinary, hasMarkup, identify, type Claim } from '../../../src/runtime/plugins/file-upload/content/identify'
import { FILE_TYPES, findType, isKnownExtension, typesOf } from '../../../src/runtime/plugins/file-upload/content/types'

/** Identifies content by a field that accepts the types, or every type. */
function typeOf(content: string | Uint8Array, accept: readonly string[] = FILE_TYPES.map(({ type }) => type), claim: Claim = {}): string {
  // The bytes are in the middle of a larger buffer, as they are when they come from a socket.
  const bytes = Buffer.concat([Buffer.from('PK'), Buffer.from(content as never, 'latin1')]).subarray(2)
  const found = identify(bytes, claim, accept.flatMap(typesOf))
  return typeof found === 'string' ? found : found.type
}
const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex')

describe('a type is recognized by its first bytes', () => {
  it.each<[string, string]>([
    ['89504e470d0a1a0a', 'image/png'], ['ffd8ff', 'image/jpeg'], ['474946383761', 'image/gif'], ['474946383961', 'image/gif'],
    ['494433', 'audio/mpeg'], ['fffb', 'audio/mpeg'], ['fffa', 'audio/mpeg'], ['fff3', 'audio/mpeg'], ['fff2', 'audio/mpeg'],
    ['fff1', 'audio/aac'], ['fff9', 'audio/aac'], ['4f676753', 'audio/ogg'], ['664c6143', 'audio/flac'], ['255044462d', 'application/pdf'],
    ['504b0304', 'application/zip'], ['504b0506', 'application/zip'], ['1f8b08', 'application/gzip'],
    ['377abcaf271c', 'application/x-7z-compressed'],
  ])('%s is %s', (digits, type) => {
    expect(typeOf(hex(digits))).toBe(type)
    expect(typeOf(hex(`${digits} 00ff`))).toBe(type)
    expect(typeOf(hex(`00 ${digits}`))).not.toBe(type)
    expect(typeOf(hex(digits.slice(0, -2)))).not.toBe(type)
  })

  it.each<[string, string]>([
    ['RIFF1234WEBP', 'image/webp'], ['RIFF1234WAVE', 'audio/wav'], ['RIFF1234WAVX', 'text/plain'], ['XRIFF1234WAVE', 'text/plain'],
    ['RIFX1234WAVE', 'text/plain'], ['\x1A\x45\xDF\xA3webm', 'video/webm'], ['\x1A\x45\xDF\xA3matroska', 'video/x-matroska'],
    [`\x1A\x45\xDF\xA3${'-'.repeat(56)}webm`, 'video/webm'], [`\x1A\x45\xDF\xA3${'-'.repeat(57)}webm`, 'content'],
    ['\x1A\x45\xDF\xA3', 'content'], ['webm', 'text/plain'],
  ])('%j is %s', (content, type) => expect(typeOf(content)).toBe(type))

  it.each([12, 40, 52, 56, 64, 108, 124])('a bitmap has a header of a known length: %i', (length) => {
    const bitmap = (size: number, header = length) => `BM${'x'.repeat(12)}${String.fromCharCode(header)}\0\0\0${'x'.repeat(size - 18)}`
    expect(typeOf(bitmap(26))).toBe('image/bmp')
    expect(typeOf(bitmap(25))).toBe('content')
    expect(typeOf(bitmap(26, length + 1))).toBe('content')
    expect(typeOf(`bm${bitmap(26).slice(2)}`)).toBe('content')
    expect(typeOf('BM is a text, and not a bitmap')).toBe('text/plain')
  })
})

describe('a type on the base of MP4', () => {
  /** @param length the length that the first box names, if it is not the real one */
  const ftyp = (brands: string, length = 8 + brands.length) => `\0\0${String.fromCharCode(length >> 8, length & 255)}ftyp${brands}`

  it.each<[string, string]>([
    ['avif----', 'image/avif'], ['avis----', 'image/avif'], ['heic----', 'image/heic'], ['mif1----heic', 'image/heic'],
    ['qt  ----', 'video/quicktime'],
    ['M4A ----', 'audio/mp4'], ['M4B ----', 'audio/mp4'], ['isom----', 'video/mp4'], ['xxxx----isom', 'video/mp4'],
    ['xxxx----yyyymp42', 'video/mp4'],
    ['xxxx----', 'content'], ['xxxxisom', 'content'], ['xxxx----yyyy', 'content'], ['xxxx----yis\nom--', 'content'],
    ['xxxx----\n\n\n\nisom', 'video/mp4'],
    ...['M4A ', 'M4B ', 'avif', 'avis', 'qt  ', 'heic', 'heix', 'mif1', 'msf1'].map(brand =>
      [`${brand}----isom`, typeOf(ftyp(`${brand}----`))] as [string, string]),
  ])('with the brands %j is %s', (brands, type) => expect(typeOf(ftyp(brands))).toBe(type))

  it('is no video because of another brand than its own', () => {
    for (const brand of ['M4A ', 'M4B ', 'avif', 'avis', 'qt  ', 'heic', 'heix', 'mif1', 'msf1'])
      expect(typeOf(ftyp(`${brand}----isommp42`), ['video/mp4'])).toBe('content')
  })

  it('has its brands within its first box, and within 128 bytes', () => {
    expect(typeOf(ftyp('xxxx----isom', 16))).toBe('content')
    expect(typeOf(ftyp('xxxx----isom', 20))).toBe('video/mp4')
    expect(typeOf(ftyp('xxxx----isom', 60_000))).toBe('video/mp4')
    expect(typeOf(ftyp(`xxxx----${'yyyy'.repeat(27)}isom`))).toBe('video/mp4')
    expect(typeOf(ftyp(`xxxx----${'yyyy'.repeat(28)}isom`))).toBe('content')
  })

  it('begins with a box of the kind `ftyp`', () => {
    for (const brands of ['', 'iso', 'isom']) expect(typeOf(ftyp(brands), ['video/mp4'])).toBe(brands === 'isom' ? 'video/mp4' : 'content')
    expect(typeOf('\0\0\0\x14free----isom')).toBe('content')
    for (const brand of ['avif', 'heic', 'qt  ', 'M4A ', 'isom']) expect(typeOf(`\0\0\0\x10free${brand}----`)).toBe('content')
  })
})

describe('an archive', () => {
  const zip = (content: string) => `PK\x03\x04${'\0'.repeat(26)}${content}`
  const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  const EXCEL = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const ODT = 'application/vnd.oasis.opendocument.text'

  it('is a document of Office if its first entries have the names of one', () => {
    for (const entry of ['[Content_Types].xml', '_rels/.rels', 'word/document.xml']) expect(typeOf(zip(entry), [WORD])).toBe(WORD)
    expect(typeOf(zip('word/document.xml'))).toBe(WORD)
    expect(typeOf(zip('word/document.xml'), [EXCEL])).toBe('content')
    expect(typeOf(zip('xl/workbook.xml'))).toBe(EXCEL)
    expect(typeOf(zip('photo.png'), [WORD])).toBe('content')
    expect(typeOf('\0 [Content_Types].xml _rels/ word/', [WORD])).toBe('content')
    expect(typeOf(zip(`${'x'.repeat(4096 - 30 - 5)}word/`), [WORD])).toBe(WORD)
    expect(typeOf(zip(`${'x'.repeat(4096 - 30 - 4)}word/`), [WORD])).toBe('content')
  })

  it('is a package if its first entry is its type', () => {
    expect(typeOf(zip(`mimetype${ODT}`))).toBe(ODT)
    expect(typeOf(zip(`mimetype${ODT}PK\x03\x04`), [ODT])).toBe(ODT)
    expect(typeOf(zip(`mimetype${ODT.slice(0, -1)}`), [ODT])).toBe('content')
    expect(typeOf(zip(`x mimetype${ODT}`), [ODT])).toBe('content')
    expect(typeOf(`\0K${zip(`mimetype${ODT}`).slice(2)}`, [ODT])).toBe('content')
    expect(typeOf(zip('mimetypeapplication/epub+zip'))).toBe('application/epub+zip')
  })

  it('is an archive too, whatever is in it', () => {
    for (const entry of ['word/document.xml', `mimetype${ODT}`, 'photo.png']) expect(typeOf(zip(entry),
      ['application/zip'])).toBe('application/zip')
  })
})

describe('text', () => {
  it.each<[string, string]>([
    ['<svg>', 'image/svg+xml'], ['<?xml version="1.0"?><svg>', 'image/svg+xml'], ['<!-- a --><svg>', 'image/svg+xml'],
    ['<x:svg xmlns:x="…">', 'image/svg+xml'], ['<SVG>', 'image/svg+xml'], ['text <svg ', 'image/svg+xml'], ['<svgx>', 'text/html'],
    ['<!doctype html>', 'text/html'], ['<!DOCTYPE\n HTML><svg>', 'image/svg+xml'], ['<html>', 'text/html'], ['<b>x', 'text/html'],
    ['\n <p', 'text/html'],
    ['</b>', 'text/html'], ['<!x', 'text/html'], ['<?x', 'text/html'], ['text <script>', 'text/html'], ['<a-svg>', 'text/html'],
    ['<?xml version="1.0"?><feed>', 'application/xml'], [' \n<?XML?><feed/>', 'application/xml'], ['<?xml?>', 'application/xml'],
    ['<?xml?><html>', 'text/html'], ['<?xml?><html xmlns="…">', 'text/html'], ['<?xml?><htmlx>', 'application/xml'],
    ['<?xml?><!doctype html>', 'text/html'], ['<?xml?><!doctype  html><x>', 'text/html'], ['x <?xml?><feed>', 'text/html'],
    ['3 < 4 <', 'text/plain'], [' <3', 'text/plain'], ['< b>', 'text/plain'], ['a <b>', 'text/plain'], ['', 'text/plain'],
    ['svg', 'text/plain'],
  ])('%j is %s', (content, type) => expect(typeOf(content)).toBe(type))

  it.each([
    'html', 'head', 'body', 'script', 'iframe', 'svg', 'object', 'embed', 'frameset', 'meta', 'link', 'base', 'style', 'template', 'math',
    'form', 'img', 'xsl:template', 'xsl:x_1',
  ])('with the element %s could run in a browser', (name) => {
    for (const tag of [`<${name}>`, `x<${name} a`, `<${name}/`, `<${name}\n`, `<${name.toUpperCase()}>`]) expect(hasMarkup(tag)).toBe(true)
    for (const tag of [`<${name}`, `<${name}-a>`, `<${name}.`, `< ${name}>`, `${name}>`, `</${name}>`,
      `<a${name}>`]) expect(hasMarkup(tag)).toBe(false)
  })

  it('with a declaration could run in a browser or on a server', () => {
    for (const text of ['<!doctype', 'x<!DOCTYPE ', '<!--', '<?xml', '<?php', '<%', 'a <%= b']) expect(hasMarkup(text)).toBe(true)
    for (const text of ['<!', '<?', '<!-', '<?xm', '<? php', '% >', '<x%', 'xsl:', '<xsl:>']) expect(hasMarkup(text)).toBe(false)
  })

  it('has no controls but white space and the escape of terminals', () => {
    for (let code = 0; code < 0x20; code++)
      expect([code, hasBinary(`a${String.fromCharCode(code)}b`)]).toEqual([code, ![9, 10, 11, 12, 13, 0x1B].includes(code)])
    expect(hasBinary('a b\x7Fä')).toBe(false)
  })

  it('is valid UTF-8, and its first bytes can end within a character', () => {
    expect(typeOf(Buffer.from('für'))).toBe('text/plain')
    expect(typeOf(Buffer.from('fü').subarray(0, 2))).toBe('text/plain')
    expect(typeOf(Buffer.from('f\xFCr', 'latin1'))).toBe('content')
    expect(typeOf('a\0')).toBe('content')
  })

  it('of a markup type is not plain text, and plain text is of no markup type', () => {
    expect(typeOf('<html>', ['text/plain', 'text/csv', 'application/json', 'image/svg+xml'])).toBe('content')
    expect(typeOf('text', ['text/html', 'image/svg+xml', 'application/xml'])).toBe('content')
  })
})

describe('what the client says', () => {
  const TEXTS = ['text/plain', 'text/csv', 'application/json']

  it('decides between the types that the content can have', () => {
    expect(typeOf('a', TEXTS, { type: 'text/csv' })).toBe('text/csv')
    expect(typeOf('a', TEXTS, { type: 'application/vnd.ms-excel' })).toBe('text/csv')
    expect(typeOf('a', TEXTS, { name: 'a.json' })).toBe('application/json')
    expect(typeOf('a', TEXTS, { name: 'A.JSON', type: 'text/plain' })).toBe('application/json')
    for (const type of [undefined, '', 'application/octet-stream', 'binary/octet-stream']) expect(typeOf('a', TEXTS,
      { name: 'a.csv', type })).toBe('text/csv')
  })

  it('is refused if it contradicts the content', () => {
    for (const type of ['image/png', 'text/html', 'text', 'x/y', 'text/markdown']) expect(typeOf('a', TEXTS, { type })).toBe('type')
    for (const name of ['a.png', 'a.php', 'a.html', 'a.md']) expect(typeOf('a', TEXTS, { name })).toBe('name')
    expect(typeOf('a', TEXTS, { name: 'a.csv', type: 'application/json' })).toBe('name')
    // Markup is not text of any kind.
    expect(typeOf('<html>', ['text/html'], { type: 'text/plain' })).toBe('type')
    expect(typeOf('\x89PNG\r\n\x1A\n', ['image/png'], { type: 'text/plain' })).toBe('type')
  })

  it('says nothing with a name that has no extension, or one that no type has', () => {
    for (const name of ['a', '', '.png', 'a.', 'a.unknown', 'a.2026']) expect(typeOf('a', TEXTS,
      { name, type: 'text/csv' })).toBe('text/csv')
  })
})

describe('the types of a field', () => {
  it('have names, other names that clients send, and extensions', () => {
    const list = FILE_TYPES.map(({ type, aliases = [], extensions }) => [[type, ...aliases].join(' '), extensions.join(' ')])
    expect(list).toEqual([
      ['image/png', 'png'],
      ['image/jpeg image/jpg image/pjpeg', 'jpg jpeg jfif'],
      ['image/gif', 'gif'],
      ['image/webp', 'webp'],
      ['image/avif', 'avif'],
      ['image/heic image/heif', 'heic heif'],
      ['image/bmp image/x-ms-bmp', 'bmp'],
      ['video/mp4 video/x-m4v', 'mp4 m4v'],
      ['video/quicktime', 'mov'],
      ['video/webm', 'webm'],
      ['video/x-matroska video/matroska', 'mkv'],
      ['audio/mpeg audio/mp3', 'mp3'],
      ['audio/mp4 audio/x-m4a audio/m4a', 'm4a'],
      ['audio/aac audio/x-aac audio/aacp', 'aac'],
      ['audio/ogg application/ogg', 'ogg oga opus'],
      ['audio/wav audio/x-wav audio/wave audio/vnd.wave', 'wav'],
      ['audio/flac audio/x-flac', 'flac'],
      ['application/pdf', 'pdf'],
      ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
      ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
      ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx'],
      ['application/vnd.oasis.opendocument.text', 'odt'],
      ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
      ['application/vnd.oasis.opendocument.presentation', 'odp'],
      ['application/epub+zip', 'epub'],
      ['application/zip application/x-zip-compressed', 'zip'],
      ['application/gzip application/x-gzip', 'gz tgz'],
      ['application/x-7z-compressed', '7z'],
      ['text/plain', 'txt text log'],
      ['text/csv application/csv application/vnd.ms-excel', 'csv'],
      ['text/markdown text/x-markdown', 'md markdown'],
      ['application/json text/json', 'json'],
      ['image/svg+xml', 'svg'],
      ['text/html application/xhtml+xml', 'html htm xhtml'],
      ['application/xml text/xml', 'xml'],
    ])
    for (const type of FILE_TYPES) for (const name of [type.type, ...type.aliases ?? []]) expect(findType(name)).toBe(type)
    for (const name of ['', 'image', 'image/x', 'png', '*/*', 'constructor']) expect(findType(name)).toBeUndefined()
  })

  it('are all types of a kind for a wildcard, without markup', () => {
    const names = (entry: string) => typesOf(entry).map(({ type }) => type)
    expect(names('image/*')).toEqual(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/heic', 'image/bmp'])
    expect(names('text/*')).toEqual(['text/plain', 'text/csv', 'text/markdown'])
    expect(names('image/svg+xml')).toEqual(['image/svg+xml'])
    for (const entry of ['*', '*/*', '/*', 'im/*', 'image/', 'image/p*', 'toString']) expect(names(entry)).toEqual([])
  })

  it('have extensions that no other type has, and programs have others', () => {
    const extensions = FILE_TYPES.flatMap(type => type.extensions)
    expect(new Set(extensions).size).toBe(extensions.length)
    for (const extension of [...extensions, 'php', 'js', 'exe', 'svgz', 'htaccess']) expect(isKnownExtension(extension)).toBe(true)
    for (const extension of ['', 'unknown', 'PHP', 'constructor']) expect(isKnownExtension(extension)).toBe(false)
  })

  it('are shown by browsers only if nothing of them can run', () => {
    const inert = FILE_TYPES.filter(type => type.inert).map(({ type }) => type)
    expect(inert).toEqual([
      'image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp', 'video/mp4', 'video/quicktime', 'video/webm',
      'audio/mpeg', 'audio/mp4', 'audio/aac', 'audio/ogg', 'audio/wav', 'audio/flac',
    ])
  })
})
