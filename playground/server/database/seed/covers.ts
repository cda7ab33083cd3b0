/** Pictures for some posts: landscapes as PNG files, where the plugin `fileUpload` stores its files. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import type { StoredFile } from 'nuxt-auto-api/plugins'
import type { PostRow } from './basics'
import { createRandom, type Random } from './random'

/** The folder of `fileUpload`, relative to the working directory of the server. */
const UPLOADS = '.data/uploads'

const SEED = 20260107

/** Every fifth of the newest published posts of an organization has a cover. The newest posts have none, so that a visitor can add one. */
const STEP = 5
const COVERS = 6

const WIDTH = 480
const HEIGHT = 270

export interface Cover { readonly postId: number, readonly cover: StoredFile, readonly content: Uint8Array }

export function covers(organizations: readonly { id: number }[], posts: readonly PostRow[]): Cover[] {
  const random = createRandom(SEED)
  return organizations.flatMap(({ id }) => posts
    .filter(post => post.organizationId === id && post.status === 'published' && !post.deletedAt)
    .toReversed()
    .filter((_, index) => index % STEP === STEP - 1)
    .slice(0, COVERS)
    .map(post => coverOf(post, random)))
}

function coverOf({ id, createdAt }: PostRow, random: Random): Cover {
  const content = landscape(random)
  const time = createdAt!.getTime().toString(16).padStart(12, '0')
  const cover = {
    key: `${time.slice(0, 8)}-${time.slice(8)}-7${random.uuid().slice(15)}`,
    name: `cover-${id}.png`,
    type: 'image/png',
    size: content.byteLength,
    sha256: createHash('sha256').update(content).digest('hex'),
    width: WIDTH,
    height: HEIGHT,
  }
  return { postId: id, cover, content }
}

/** Writes the files. A file that another server of the same database has written stays. */
export function writeCovers(all: readonly Cover[]): void {
  for (const { postId, cover, content } of all) {
    const file = join(UPLOADS, 'posts', Buffer.from(String(postId)).toString('hex'), 'cover', cover.key)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content, { mode: 0o600 })
  }
}

type Color = readonly [red: number, green: number, blue: number]

const SKIES: readonly (readonly [top: Color, bottom: Color, hill: Color])[] = [
  [[48, 84, 150], [248, 196, 150], [52, 70, 92]],
  [[96, 170, 214], [232, 244, 236], [58, 122, 96]],
  [[84, 60, 120], [244, 160, 140], [70, 48, 88]],
  [[140, 180, 190], [250, 236, 206], [122, 104, 78]],
]

/** A sky, a sun and three hills, of which the nearest is the darkest. */
function landscape(random: Random): Buffer {
  const [top, bottom, hill] = random.pick(SKIES)
  const sun = { x: random.int(80, 400), y: random.int(50, 110), size: random.int(20, 32) }
  const hills = [0, 1, 2].map(index => ({
    base: 150 + index * 38, height: random.int(12, 26), length: random.int(60, 130), shift: random.int(0, 360),
    color: mix(bottom, hill, 0.4 + index * 0.3),
  })).toReversed()
  const rows = Buffer.alloc((WIDTH * 3 + 1) * HEIGHT)
  let position = 0
  for (let y = 0; y < HEIGHT; y++) {
    // Each line begins with its filter: none.
    position++
    const sky = mix(top, bottom, y / HEIGHT)
    for (let x = 0; x < WIDTH; x++) {
      const nearest = hills.find(({ base, height, length, shift }) => y > base + height * Math.sin((x + shift) / length))
      const isSun = (x - sun.x) ** 2 + (y - sun.y) ** 2 < sun.size ** 2
      for (const part of nearest?.color ?? (isSun ? mix(sky, [255, 250, 230], 0.85) : sky)) rows[position++] = part
    }
  }
  return png(rows)
}

const mix = (a: Color, b: Color, share: number): Color =>
  [0, 1, 2].map(index => Math.round(a[index]! + (b[index]! - a[index]!) * share)) as unknown as Color

function png(rows: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  // Eight bits for each of red, green and blue.
  header.set([8, 2], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([size, content, sum])
}
