/**
 * The types of files that uploads can accept: their names, their extensions, and how their content begins.
 *
 * `magic-bytes.js` does not fit: it finds ten types for every ZIP archive, MP4 video for M4A audio, Matroska for WebM, and a bitmap in text
 * that begins with `BM`. `file-type` parses containers, and had endless loops. Here, each pattern reads at most 4 kB, and no length of the
 * file is followed.
 */
import { avifSize, bmpSize, gifSize, jpegSize, pngSize, webpSize, type ReadSize } from './dimensions'

export interface FileType {
  readonly type: string
  /** Other names that clients send for the type. */
  readonly aliases?: readonly string[]
  /** The usual extension first. */
  readonly extensions: readonly string[]
  /** Whether a browser can show the content without running anything of it. Other types are always downloaded. */
  readonly inert?: true
  /** Whether content begins like this type. Text has no such mark. */
  readonly matches?: (head: Uint8Array) => boolean
  /** Text, or text that browsers can interpret as a document with code. */
  readonly text?: 'plain' | 'markup'
  readonly size?: ReadSize
}

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, pair => Number.parseInt(pair, 16))

/** Whether the bytes are at a position of the content. */
const at = (start: number, ...alternatives: readonly string[]) => {
  const patterns = alternatives.map(bytesOf)
  return (head: Uint8Array) => patterns.some(pattern => pattern.every((byte, index) => head[start + index] === byte))
}

const ascii = (head: Uint8Array, start: number, end: number) => String.fromCharCode(...head.subarray(start, end))

/** `ftyp`, and a brand in the list of brands. All formats on the base of MP4 begin with such a list. */
const hasBrand = (...brands: readonly string[]) => (head: Uint8Array) => {
  if (ascii(head, 4, 8) !== 'ftyp') return false
  const length = new DataView(head.buffer, head.byteOffset).getUint32(0)
  const found = ascii(head, 8, Math.min(length, head.byteLength, 128)).match(/.{4}/gs)
  // The second entry is the version of the first.
  return found?.some((brand, index) => index !== 1 && brands.includes(brand)) ?? false
}

const isMajor = (...brands: readonly string[]) => (head: Uint8Array) => ascii(head, 4, 8) === 'ftyp' && brands.includes(ascii(head, 8, 12))

const riff = (form: string) => (head: Uint8Array) => ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === form
const ebml = (kind: string) => (head: Uint8Array) => at(0, '1a45dfa3')(head) && ascii(head, 4, 64).includes(kind)
const zip = at(0, '504b0304', '504b0506')

/** Documents of Office are ZIP archives with entries of these names. */
const office = (folder: string) => (head: Uint8Array) => {
  const start = ascii(head, 0, Math.min(head.byteLength, 4096))
  return zip(head) && (start.includes('[Content_Types].xml') || start.includes('_rels/') || start.includes(`${folder}/`))
}

/** OpenDocument and EPUB are ZIP archives whose first entry is their media type. */
const packaged = (type: string) => (head: Uint8Array) => zip(head) && ascii(head, 30, 38 + type.length) === `mimetype${type}`

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const ODF = 'application/vnd.oasis.opendocument'

export const FILE_TYPES: readonly FileType[] = [
  { type: 'image/png', extensions: ['png'], inert: true, matches: at(0, '89504e470d0a1a0a'), size: pngSize },
  {
    type: 'image/jpeg', aliases: ['image/jpg', 'image/pjpeg'], extensions: ['jpg', 'jpeg', 'jfif'], inert: true,
    matches: at(0, 'ffd8ff'), size: jpegSize,
  },
  { type: 'image/gif', extensions: ['gif'], inert: true, matches: at(0, '474946383761', '474946383961'), size: gifSize },
  { type: 'image/webp', extensions: ['webp'], inert: true, matches: riff('WEBP'), size: webpSize },
  { type: 'image/avif', extensions: ['avif'], inert: true, matches: isMajor('avif', 'avis'), size: avifSize },
  {
    type: 'image/heic', aliases: ['image/heif'], extensions: ['heic', 'heif'],
    matches: isMajor('heic', 'heix', 'heim', 'heis', 'mif1', 'msf1'), size: avifSize,
  },
  { type: 'image/bmp', aliases: ['image/x-ms-bmp'], extensions: ['bmp'], inert: true, matches: isBmp, size: bmpSize },
  { type: 'video/mp4', aliases: ['video/x-m4v'], extensions: ['mp4', 'm4v'], inert: true, matches: isMp4 },
  { type: 'video/quicktime', extensions: ['mov'], inert: true, matches: isMajor('qt  ') },
  { type: 'video/webm', extensions: ['webm'], inert: true, matches: ebml('webm') },
  { type: 'video/x-matroska', aliases: ['video/matroska'], extensions: ['mkv'], matches: ebml('matroska') },
  {
    type: 'audio/mpeg', aliases: ['audio/mp3'], extensions: ['mp3'], inert: true,
    matches: at(0, '494433', 'fffb', 'fffa', 'fff3', 'fff2'),
  },
  { type: 'audio/mp4', aliases: ['audio/x-m4a', 'audio/m4a'], extensions: ['m4a'], inert: true, matches: isMajor('M4A ', 'M4B ') },
  { type: 'audio/aac', aliases: ['audio/x-aac', 'audio/aacp'], extensions: ['aac'], inert: true, matches: at(0, 'fff1', 'fff9') },
  { type: 'audio/ogg', aliases: ['application/ogg'], extensions: ['ogg', 'oga', 'opus'], inert: true, matches: at(0, '4f676753') },
  { type: 'audio/wav', aliases: ['audio/x-wav', 'audio/wave', 'audio/vnd.wave'], extensions: ['wav'], inert: true, matches: riff('WAVE') },
  { type: 'audio/flac', aliases: ['audio/x-flac'], extensions: ['flac'], inert: true, matches: at(0, '664c6143') },
  { type: 'application/pdf', extensions: ['pdf'], matches: at(0, '255044462d') },
  { type: `${OFFICE}.wordprocessingml.document`, extensions: ['docx'], matches: office('word') },
  { type: `${OFFICE}.spreadsheetml.sheet`, extensions: ['xlsx'], matches: office('xl') },
  { type: `${OFFICE}.presentationml.presentation`, extensions: ['pptx'], matches: office('ppt') },
  { type: `${ODF}.text`, extensions: ['odt'], matches: packaged(`${ODF}.text`) },
  { type: `${ODF}.spreadsheet`, extensions: ['ods'], matches: packaged(`${ODF}.spreadsheet`) },
  { type: `${ODF}.presentation`, extensions: ['odp'], matches: packaged(`${ODF}.presentation`) },
  { type: 'application/epub+zip', extensions: ['epub'], matches: packaged('application/epub+zip') },
  { type: 'application/zip', aliases: ['application/x-zip-compressed'], extensions: ['zip'], matches: zip },
  { type: 'application/gzip', aliases: ['application/x-gzip'], extensions: ['gz', 'tgz'], matches: at(0, '1f8b08') },
  { type: 'application/x-7z-compressed', extensions: ['7z'], matches: at(0, '377abcaf271c') },
  { type: 'text/plain', extensions: ['txt', 'text', 'log'], text: 'plain' },
  { type: 'text/csv', aliases: ['application/csv', 'application/vnd.ms-excel'], extensions: ['csv'], text: 'plain' },
  { type: 'text/markdown', aliases: ['text/x-markdown'], extensions: ['md', 'markdown'], text: 'plain' },
  { type: 'application/json', aliases: ['text/json'], extensions: ['json'], text: 'plain' },
  { type: 'image/svg+xml', extensions: ['svg'], text: 'markup' },
  { type: 'text/html', aliases: ['application/xhtml+xml'], extensions: ['html', 'htm', 'xhtml'], text: 'markup' },
  { type: 'application/xml', aliases: ['text/xml'], extensions: ['xml'], text: 'markup' },
]

/** Extensions of files that servers or systems run. No accepted file can have one, whatever its content is. */
const ACTIVE = [
  'php', 'phtml', 'phar', 'php3', 'php4', 'php5', 'php7', 'asp', 'aspx', 'ashx', 'jsp', 'jspx', 'cgi', 'pl', 'py', 'rb', 'sh', 'bash',
  'js', 'mjs', 'cjs', 'ts', 'jsx', 'tsx', 'vue', 'wasm', 'css', 'htaccess', 'shtml', 'htc', 'hta', 'mht', 'mhtml', 'svgz', 'xsl', 'xslt',
  'xht', 'swf', 'jar', 'exe', 'dll', 'com', 'scr', 'msi', 'bat', 'cmd', 'ps1', 'vbs', 'vbe', 'wsf', 'lnk', 'url', 'reg', 'app', 'dmg',
  'apk', 'desktop', 'docm', 'xlsm', 'pptm', 'dotm', 'iso', 'img',
]

const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([...ACTIVE, ...FILE_TYPES.flatMap(({ extensions }) => extensions)])

/** Whether an extension says something about the type of a file. */
export const isKnownExtension = (extension: string): boolean => KNOWN_EXTENSIONS.has(extension)

/** Finds a type by its name or by another name of it. */
export function findType(name: string): FileType | undefined {
  return FILE_TYPES.find(({ type, aliases }) => type === name || aliases?.includes(name))
}

/** Returns the types that an entry of `accept` stands for. `image/*` stands for types without markup, so not for SVG. */
export function typesOf(entry: string): readonly FileType[] {
  if (!entry.endsWith('/*')) return [findType(entry)].filter(found => found !== undefined)
  return FILE_TYPES.filter(({ type, text }) => text !== 'markup' && type.startsWith(entry.slice(0, -1)))
}

function isBmp(head: Uint8Array): boolean {
  if (ascii(head, 0, 2) !== 'BM' || head.byteLength < 26) return false
  return [12, 40, 52, 56, 64, 108, 124].includes(new DataView(head.buffer, head.byteOffset).getUint32(14, true))
}

function isMp4(head: Uint8Array): boolean {
  return hasBrand('isom', 'iso2', 'iso4', 'iso5', 'iso6', 'mp41', 'mp42', 'avc1', 'M4V ', 'M4VH', 'M4VP', 'MSNV', 'dash')(head)
    && !isMajor('M4A ', 'M4B ', 'avif', 'avis', 'qt  ', 'heic', 'heix', 'mif1', 'msf1')(head)
}
