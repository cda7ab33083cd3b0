/** Serving: the rules of the record on every request, and HTTP as RFC 9110 defines it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fileSystemStorage, type ByteRange } from '../../../src/runtime/plugins/index'
import { selectResponse } from '../../../src/runtime/plugins/file-upload/server/http/conditions'
import { contentDisposition } from '../../../src/runtime/plugins/file-upload/server/http/disposition'
import { png, sha256 } from './bytes'
import { ANONYMOUS, EDITOR, FOREIGN, READER, form, openWorld, type World, type WorldOptions } from './world'

let world: World
async function open(options?: WorldOptions): Promise<World> {
  return world = await openWorld(options)
}
beforeEach(() => open())
afterEach(async () => {
  vi.restoreAllMocks()
  await world.close()
})

const BYTES = png(10, 20, 150_000).map((byte, index) => index < 24 ? byte : index % 251)
const upload = async (path = '/posts/1/upload/cover', body = form(BYTES, 'Küste "a".png')) => {
  const { status, body: record } = await world.send(EDITOR, 'POST', path, { body })
  expect(status).toBe(200)
  return record
}
const get = (headers: Record<string, string> = {}, { path = '/posts/1/files/cover', method = 'GET', caller = EDITOR } = {}) =>
  world.send(caller, method, path, { headers })

describe('a file', () => {
  it('is sent with its type and headers that keep it from running', async () => {
    const { cover } = await upload()
    for (const path of ['/posts/1/files/cover', `/posts/1/files/cover/${cover.key}`]) {
      const { status, headers, bytes } = await get({}, { path, caller: READER })
      expect(status).toBe(200)
      expect(bytes.equals(BYTES)).toBe(true)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': '150000',
        'etag': `"${sha256(BYTES)}"`,
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'default-src \'none\'; sandbox',
        'cache-control': 'private, no-cache',
        'content-disposition': 'inline; filename="K_ste _a_.png"; filename*=UTF-8\'\'K%C3%BCste%20_a_.png',
      })
    }
  })

  it('is downloaded if it is not inert, or if the client asks for it', async () => {
    const record = await upload('/posts/1/upload/files', form('%PDF-1.7 …', 'a.pdf'))
    const [{ key }] = JSON.parse(record.files)
    expect((await get({}, { path: `/posts/1/files/files/${key}` })).headers.get('content-disposition')).toBe('attachment; filename="a.pdf"')
    await upload()
    expect((await get({}, { path: '/posts/1/files/cover?download=true' })).headers.get('content-disposition')).toMatch(/^attachment/)
    expect(await get({}, { path: '/posts/1/files/cover?download=yes' })).toMatchObject({ status: 400 })
  })

  it('of a list needs its key', async () => {
    await upload('/posts/1/upload/files', form('a', 'a.txt'))
    expect((await get({}, { path: '/posts/1/files/files' })).status).toBe(404)
    expect((await get({}, { path: '/posts/1/files/files/0' })).status).toBe(404)
  })

  it('is text in UTF-8', async () => {
    const record = await upload('/posts/1/upload/files', form('äö', 'a.txt'))
    const { headers, bytes } = await get({}, { path: `/posts/1/files/files/${JSON.parse(record.files)[0].key}` })
    expect([headers.get('content-type'), bytes.toString()]).toEqual(['text/plain; charset=utf-8', 'äö'])
  })
})

describe('each request checks the record', () => {
  it.each<[string, () => unknown, number, typeof EDITOR?]>([
    ['a caller without a session', () => {}, 401, ANONYMOUS],
    ['a caller of another tenant', () => {}, 404, FOREIGN],
    ['a caller who lost the permission', () => {}, 403, { user: { id: 7, organizationId: 1 }, permissions: ['edit'] }],
    ['a row in the trash', () => world.client.exec('update posts set deleted_at = 1 where id = 1'), 404],
    ['a row of another tenant now', () => world.client.exec('update posts set organization_id = 2 where id = 1'), 404],
    ['a row that objectLevel hides now', () => world.client.exec('update posts set title = \'Private\' where id = 1'), 404],
    ['a row without a file now', () => world.client.exec('update posts set cover = null where id = 1'), 404],
    ['a row that is gone', () => world.client.exec('delete from posts where id = 1'), 404],
  ])('%s', async (_case, change, status, caller = EDITOR) => {
    const { cover } = await upload()
    expect((await get()).status).toBe(200)
    change()
    for (const path of ['/posts/1/files/cover', `/posts/1/files/cover/${cover.key}`]) {
      for (const headers of [{}, { 'if-none-match': '*' }, { range: 'bytes=0-1' }]) {
        const response = await get(headers as Record<string, string>, { path, caller })
        expect(response.status).toBe(status)
        expect(response.headers.get('etag')).toBeNull()
      }
    }
  })

  it('a field that the caller cannot read', async () => {
    world.client.exec(
      `update posts set secret = '{"key":"01936f00-0000-7000-8000-000000000000","name":"x","type":"image/png","size":1,"sha256":"x"}'`,
    )
    expect(await get({}, { path: '/posts/1/files/secret' })).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  })

  it('a file of another record', async () => {
    const { cover } = await upload()
    world.client.exec('insert into posts (id, organization_id, title) values (5, 1, \'Other\')')
    expect((await get({}, { path: `/posts/5/files/cover/${cover.key}` })).status).toBe(404)
    expect((await get({}, { path: `/posts/1/files/files/${cover.key}` })).status).toBe(404)
  })
})

describe('conditions and ranges', () => {
  it('returns 304 for a file that the client has', async () => {
    await upload()
    const etag = `"${sha256(BYTES)}"`
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, bytes, headers } = await get({ 'if-none-match': tag })
      expect([status, bytes.byteLength, headers.get('etag'), headers.get('cache-control')]).toEqual([304, 0, etag, 'private, no-cache'])
    }
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)
    expect(await get({ 'if-match': '"other"' })).toMatchObject({ status: 412, code: 'PRECONDITION_FAILED' })
    expect((await get({ 'if-match': etag })).status).toBe(200)
  })

  it.each([
    ['bytes=0-0', 0, 0], ['bytes=100-199', 100, 199], ['bytes=149990-', 149_990, 149_999], ['bytes=-5', 149_995, 149_999],
    ['bytes=0-999999999', 0, 149_999], ['bytes=-999999999', 0, 149_999],
  ])('returns the range %s', async (range, start, end) => {
    await upload()
    const { status, headers, bytes } = await get({ range })
    expect([status, headers.get('content-range'), headers.get('content-length')]).toEqual([
      206,
      `bytes ${start}-${end}/150000`,
      String(end - start + 1),
    ])
    expect(bytes.equals(BYTES.subarray(start, end + 1))).toBe(true)
  })

  it('refuses a range after the end, and ignores what is no single range', async () => {
    await upload()
    for (const range of ['bytes=150000-', 'bytes=150000-150001', 'bytes=-0']) {
      const { status, headers, code } = await get({ range })
      expect([status, code, headers.get('content-range')]).toEqual([416, 'RANGE_NOT_SATISFIABLE', 'bytes */150000'])
    }
    for (const range of ['bytes=5-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=a-b', 'bytes', ''])
      expect((await get({ range })).status).toBe(200)
  })

  it.each<[string, string, number]>([
    ['a thousand ranges', `bytes=${Array.from({ length: 1000 }, (_, index) => `${index}-${index}`).join()}`, 200],
    ['overlapping ranges', `bytes=${Array.from({ length: 1000 }, () => '0-').join()}`, 200],
    ['overlapping suffixes', `bytes=${Array.from({ length: 1000 }, () => '-149999').join()}`, 200],
    ['a huge start', `bytes=${'9'.repeat(8000)}-`, 416],
    ['a huge end', `bytes=0-${'9'.repeat(8000)}`, 206],
    ['a huge suffix', `bytes=-${'9'.repeat(8000)}`, 206],
    ['huge start and end', `bytes=${'9'.repeat(4000)}-${'9'.repeat(4000)}`, 416],
    ['spaces', `bytes=${' '.repeat(8000)}1-2${' '.repeat(4000)}x`, 200],
  ])('answers %s with at most one read of the file', async (_name, range, status) => {
    const base = world.folder
    const stored = fileSystemStorage({ base })
    const ranges: unknown[] = []
    const getFile = (key: string, range?: ByteRange) => {
      ranges.push(range)
      return stored.get(key, range)
    }
    await world.close()
    await open({ storage: { ...stored, get: getFile } })
    await upload()
    const response = await get({ range })
    expect([response.status, status === 416 ? 0 : response.bytes.byteLength]).toEqual([status, status === 416 ? 0 : BYTES.byteLength])
    expect(response.headers.get('content-type')).not.toContain('multipart')
    expect(ranges).toEqual(status === 416 ? [] : [status === 200 ? undefined : { start: 0, end: BYTES.byteLength - 1 }])
    const start = performance.now()
    for (let run = 0; run < 100; run++) selectResponse('GET', name => name === 'range' ? range : undefined, '"e"', BYTES.byteLength)
    expect(performance.now() - start).toBeLessThan(500)
    rmSync(base, { recursive: true })
  })

  it('returns the range only of the file that `If-Range` names', async () => {
    await upload()
    expect((await get({ 'range': 'bytes=0-1', 'if-range': `"${sha256(BYTES)}"` })).status).toBe(206)
    for (const tag of ['"other"', `W/"${sha256(BYTES)}"`, 'Sat, 22 Nov 2026 10:00:00 GMT'])
      expect((await get({ 'range': 'bytes=0-1', 'if-range': tag })).status).toBe(200)
  })

  it('answers HEAD with the headers of the whole file', async () => {
    await upload()
    const { status, headers, bytes } = await get({ range: 'bytes=0-1' }, { method: 'HEAD' })
    expect([status, bytes.byteLength, headers.get('content-length'), headers.get('content-type')]).toEqual([200, 0, '150000', 'image/png'])
  })

  it('selects a response for any header without throwing', () => {
    const garbage = [
      '',
      '"',
      '*',
      'W/',
      'W/"a',
      '"a","b',
      'bytes=',
      'bytes=-',
      'bytes=99999999999999999999999-',
      'bytes=1-99999999999999999999999',
      'bytes=--1',
      '\u00FF',
    ]
    for (const ifMatch of garbage) for (const range of garbage) for (const size of [0, 1, 10]) {
      const selected = selectResponse('GET', name => name === 'range' ? range : name === 'if-none-match' ? ifMatch : undefined, '"e"', size)
      if (typeof selected === 'object') expect(selected.start >= 0 && selected.start <= selected.end && selected.end < size).toBe(true)
    }
  })

  it('writes names that cannot end the header', () => {
    expect(contentDisposition('attachment', 'a"\r\nSet-Cookie: x.png')).toBe(
      'attachment; filename="a___Set-Cookie: x.png"; filename*=UTF-8\'\'a%22%0D%0ASet-Cookie%3A%20x.png',
    )
    expect(contentDisposition('inline', '\uD800.png')).toContain('%EF%BF%BD.png')
  })
})

describe('a file that the storage lost', () => {
  it('is a 404, and is logged', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await upload()
    rmSync(join(world.folder, world.stored()[0]!))
    expect(await get()).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(log).toHaveBeenCalledWith(expect.stringContaining('not in the storage'))
  })

  it('breaks the connection if it is shorter than its record says', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await upload()
    const cover = JSON.parse(world.row(1).cover as string)
    world.client.prepare('update posts set cover = ?').run(JSON.stringify({ ...cover, size: 200_000 }))
    await expect(get()).rejects.toThrow()
  })

  it.each([
    ['text/html', 'application/octet-stream', 'attachment'], ['image/svg+xml', 'application/octet-stream', 'attachment'],
    ['a\r\nb: c', 'application/octet-stream', 'attachment'], ['image/avif', 'image/avif', 'inline'],
  ])('is sent only with a type that is inert or that the field accepts, whatever the column contains: %s', async (type, sent, kind) => {
    await upload()
    const cover = JSON.parse(world.row(1).cover as string)
    world.client.prepare('update posts set cover = ?').run(JSON.stringify({ ...cover, type }))
    const { headers } = await get()
    expect(headers.get('content-type')).toBe(sent)
    expect(headers.get('content-disposition')).toMatch(new RegExp(`^${kind}`))
    expect(headers.get('content-security-policy')).toBe('default-src \'none\'; sandbox')
  })
})
