/** A file that is replaced while others read it: each response is one whole version, on every storage. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import memoryDriver from 'unstorage/drivers/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileSystemStorage, r2Storage, s3Storage, unstorageStorage, type FileStorage } from '../../../src/runtime/plugins/index'
import { byTier } from '../../support/tiers'
import { S3_KEYS, S3_REGION, startS3, type LocalS3 } from '../../support/s3'
import { png } from './bytes'
import { EDITOR, form, openWorld } from './world'

let s3: LocalS3
let miniflare: Miniflare
const folder = mkdtempSync(join(tmpdir(), 'replaced-'))

beforeAll(async () => {
  s3 = await startS3()
  miniflare = new Miniflare({ modules: true, script: 'export default {}', r2Buckets: ['FILES'] })
})

afterAll(async () => {
  await s3.close()
  await miniflare.dispose()
  rmSync(folder, { recursive: true })
})

const STORAGES: Readonly<Record<string, () => FileStorage | Promise<FileStorage>>> = {
  'the file system': () => fileSystemStorage({ base: folder }),
  'S3': () => s3Storage({ bucket: 'files', region: S3_REGION, endpoint: s3.endpoint }, S3_KEYS),
  'R2': async () => r2Storage(await miniflare.getR2Bucket('FILES') as never),
  'unstorage': () => unstorageStorage(memoryDriver()),
}

const REPLACEMENTS = byTier({ push: 40, full: 200, release: 200 })
/** A slow disk makes fewer replacements. */
const MAX_MS = 60_000
const READERS = 4
const HEAD = 24

/** A version has its own length, and the same byte everywhere after the head. */
const versionOf = (number: number) => png(10, 20, 1000 + number).map((byte, index) => index < HEAD ? byte : number % 251)

describe.each(Object.entries(STORAGES))('a file in %s', (_name, create) => {
  it('is sent whole in one of its versions, while it is replaced', async () => {
    const world = await openWorld({ storage: await create() })
    try {
      const replace = async (number: number) => {
        const { status } = await world.send(EDITOR, 'POST', '/posts/1/upload/cover', { body: form(versionOf(number), 'a.png') })
        expect(status).toBe(200)
      }
      await replace(0)
      let isDone = false
      const statuses = new Map<number, number>()
      const read = async (reader: number) => {
        for (let count = reader; !isDone; count++) {
          const isRange = count % 2 === 0
          const { status, bytes } = await world.send(EDITOR, 'GET', '/posts/1/files/cover', {
            headers: isRange ? { range: 'bytes=100-199' } : {},
          })
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          expect(status).toBe(isRange ? 206 : 200)
          const rest = isRange ? bytes : bytes.subarray(HEAD)
          const [version] = rest
          expect(rest.every(byte => byte === version)).toBe(true)
          if (!isRange) expect(bytes.byteLength % 251).toBe((1000 + version!) % 251)
        }
      }
      const readers = Array.from({ length: READERS }, (_, reader) => read(reader))
      const end = Date.now() + MAX_MS
      for (let number = 1; number <= REPLACEMENTS && Date.now() < end; number++) await replace(number)
      isDone = true
      await Promise.all(readers)
      expect([...statuses.keys()].sort()).toEqual([200, 206])
    }
    finally {
      await world.close()
    }
  }, 2 * MAX_MS)
})
