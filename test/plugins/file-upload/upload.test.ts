/** Uploading: what is stored, what the record names, and that a refused upload leaves nothing. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { apiError } from '../../../src/runtime/server/core/request/custom-error'
import { defineAutoApiPlugin } from '../../../src/runtime/server/define'
import type { FileStorage } from '../../../src/runtime/plugins/index'
import { png, sha256 } from './bytes'
import { ANONYMOUS, EDITOR, FOREIGN, READER, form, openWorld, sendRaw, type World, type WorldOptions } from './world'

let world: World
async function open(options?: WorldOptions): Promise<World> {
  return world = await openWorld(options)
}
beforeEach(() => void open())
afterEach(async () => {
  vi.restoreAllMocks()
  await world.close()
})

const PNG = { 'content-type': 'image/png' }
const upload = (
  body: BodyInit,
  {
    caller = EDITOR,
    path = '/posts/1/upload/cover',
    headers,
  }: { caller?: typeof EDITOR, path?: string, headers?: Record<string, string> } = {},
) => world.send(caller, 'POST', path, { body, headers })

const KEY = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('an upload', () => {
  it('stores the file, names it in the record, and returns the record', async () => {
    await open()
    const bytes = png(640, 480, 5000)
    const { status, body } = await upload(form(bytes, 'Küste.png', 'image/png'))
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ id: 1, title: 'First', updatedBy: 7 })
    expect(body).not.toHaveProperty('secret')
    expect(body.cover).toEqual({
      key: expect.stringMatching(KEY), name: 'Küste.png', type: 'image/png', size: 5000, sha256: sha256(bytes), width: 640, height: 480,
    })
    expect(world.stored()).toEqual([`posts/31/cover/${body.cover.key}`])
    expect(readFileSync(join(world.folder, world.stored()[0]!)).equals(bytes)).toBe(true)
    expect(JSON.parse(world.row(1).cover as string)).toEqual(body.cover)
    expect((await world.send(EDITOR, 'GET', '/posts/1')).body.cover).toEqual(body.cover)
  })

  it('takes raw bytes, with a name in the query', async () => {
    await open()
    const { body } = await upload(png(), { headers: PNG, path: '/posts/1/upload/cover?name=a%20b.png' })
    expect(body.cover).toMatchObject({ name: 'a b.png', type: 'image/png', width: 10, height: 20 })
    const unnamed = await upload(png(), { headers: { 'content-type': 'application/octet-stream' } })
    expect(unnamed.body.cover).toMatchObject({ name: 'cover.png', type: 'image/png' })
  })

  it('adds to a list, up to its maximum, in a text column', async () => {
    await open()
    for (const name of ['a.txt', 'b.csv', 'c.png']) {
      const { status } = await upload(form(name === 'c.png' ? png() : 'one,two', name), { path: '/posts/1/upload/files' })
      expect(status).toBe(200)
    }
    const files = JSON.parse(world.row(1).files as string) as { name: string, type: string }[]
    expect(files.map(({ name, type }) => [name, type])).toEqual([['a.txt', 'text/plain'], ['b.csv', 'text/csv'], ['c.png', 'image/png']])
    expect(await upload(form('d', 'd.txt'), { path: '/posts/1/upload/files' })).toMatchObject({ status: 400, code: 'LIMIT_EXCEEDED' })
    expect(world.stored()).toHaveLength(3)
  })

  it('replaces a file after the commit', async () => {
    await open()
    const first = (await upload(form(png(1, 1), 'a.png'))).body.cover.key as string
    const second = (await upload(form(png(2, 2), 'b.png'))).body.cover.key as string
    expect(second).not.toBe(first)
    expect(world.stored()).toEqual([`posts/31/cover/${second}`])
  })

  it('is an update: hooks and plugins see it', async () => {
    const seen: unknown[] = []
    const changes: unknown[] = []
    await open({
      hooks: {
        beforeUpdate: (id: unknown, data: Record<string, unknown>) => {
          seen.push(['before', id, Object.keys(data)])
          return { ...data, title: 'By the hook' }
        },
        afterUpdate: (record: Record<string, unknown>) => void seen.push(['after', (record.cover as { name: string }).name]),
      },
      plugins: [defineAutoApiPlugin({ name: 'log', onCommit: all => void changes.push(...all) })],
    } as WorldOptions)
    const { body } = await upload(form(png(), 'a.png'))
    expect(body.title).toBe('By the hook')
    expect(seen).toEqual([['before', 1, ['cover']], ['after', 'a.png']])
    expect(changes).toEqual([expect.objectContaining({ resource: 'posts', kind: 'update', id: '1' })])
  })

  it('is recorded with every other change of the file', async () => {
    await open({ audited: true })
    const first = await upload(form(png(), 'a.png'))
    const second = await upload(form(png(30, 40), 'b.png'))
    expect((await upload(form('<html>', 'c.png'))).status).toBe(415)
    expect((await world.send(EDITOR, 'DELETE', '/posts/1/files/cover')).status).toBe(200)
    const names = (json: unknown) => (JSON.parse(json as string) as { cover: { name: string } | null }).cover?.name
    const entries = world.client.prepare('select kind, record_id, user_id, before, after from audit_log order by at, id').all() as Record<
      string,
      unknown
    >[]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(entries.map(({ kind, record_id, user_id, before, after }) => [kind, record_id, user_id, names(before), names(after)])).toEqual([
      ['update', '1', '7', undefined, 'a.png'], ['update', '1', '7', 'a.png', 'b.png'], ['update', '1', '7', 'b.png', undefined],
    ])
  })

  it('keeps one file of two uploads at once', async () => {
    await open()
    const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => upload(form(png(index + 1, 1, 100_000), `${index}.png`))))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    const { key } = JSON.parse(world.row(1).cover as string) as { key: string }
    expect(world.stored()).toEqual([`posts/31/cover/${key}`])
  })

  it('keeps every file of uploads to a list at once', async () => {
    await open()
    await Promise.all(['a', 'b', 'c'].map(name => upload(form(name, `${name}.txt`), { path: '/posts/1/upload/files' })))
    const keys = (JSON.parse(world.row(1).files as string) as { key: string }[]).map(({ key }) => `posts/31/files/${key}`)
    expect(world.stored()).toEqual(keys.sort())
    expect(keys).toHaveLength(3)
  })

  it('compares `If-Match` with the tag of the record', async () => {
    await open()
    const tag = (await world.send(EDITOR, 'GET', '/posts/1')).headers.get('etag')!
    expect(await upload(form(png(), 'a.png'), { headers: { 'if-match': '"AAAAAAAAAAAAAAAA"' } })).toMatchObject({
      status: 412,
      code: 'PRECONDITION_FAILED',
    })
    expect(await upload(form(png(), 'a.png'), { headers: { 'if-match': 'no tag' } })).toMatchObject({ status: 400 })
    expect(world.stored()).toEqual([])
    expect((await upload(form(png(), 'a.png'), { headers: { 'if-match': tag } })).status).toBe(200)
    expect((await upload(form(png(), 'b.png'), { headers: { 'if-match': tag } })).status).toBe(412)
    expect(world.stored()).toHaveLength(1)
    expect((await world.send(EDITOR, 'DELETE', '/posts/1/files/cover', { headers: { 'if-match': tag } })).status).toBe(412)
  })

  it('returns the tag of the record, as other writes do', async () => {
    await open()
    const uploaded = await world.send(EDITOR, 'POST', '/posts/1/upload/cover', { body: png(), headers: { 'content-type': 'image/png' } })
    const read = await world.send(EDITOR, 'GET', '/posts/1')
    expect(uploaded.body).toEqual(read.body)
    expect([uploaded.headers.get('etag'), uploaded.headers.get('content-type')]).toEqual([
      read.headers.get('etag'),
      read.headers.get('content-type'),
    ])
    expect((await world.send(EDITOR, 'GET', '/posts/1', { headers: { 'if-none-match': uploaded.headers.get('etag')! } })).status).toBe(304)
    const removed = await world.send(EDITOR, 'DELETE', '/posts/1/files/cover', { headers: { 'if-match': uploaded.headers.get('etag')! } })
    expect([removed.status, removed.headers.get('etag')]).toEqual([200, (await world.send(EDITOR, 'GET', '/posts/1')).headers.get('etag')])
    expect(removed.headers.get('etag')).not.toBe(uploaded.headers.get('etag'))
  })

  it('requires the tag of the record if the resource does, before it reads the file', async () => {
    await open({ requireIfMatch: true })
    expect(await upload(form(png(), 'a.png'))).toMatchObject({ status: 428, code: 'PRECONDITION_REQUIRED' })
    expect((await world.send(EDITOR, 'DELETE', '/posts/1/files/cover')).status).toBe(428)
    expect(world.stored()).toEqual([])
    const tag = (await world.send(EDITOR, 'GET', '/posts/1')).headers.get('etag')!
    expect((await upload(form(png(), 'a.png'), { headers: { 'if-match': tag } })).status).toBe(200)
    expect((await world.send(EDITOR, 'DELETE', '/posts/1/files/cover', { headers: { 'if-match': '*' } })).status).toBe(200)
  })

  it('has no dry run', async () => {
    await open()
    expect(await upload(form(png(), 'a.png'), { path: '/posts/1/upload/cover?dryRun=true' })).toMatchObject({
      status: 400,
      code: 'DRY_RUN_UNSUPPORTED',
    })
    expect(world.stored()).toEqual([])
  })

  it('is not possible in a plain body', async () => {
    await open()
    const cover = { key: '01936f00-0000-7000-8000-000000000000', name: 'x', type: 'text/html', size: 1, sha256: 'x' }
    const { status, body } = await world.send(EDITOR, 'PATCH', '/posts/1', {
      body: JSON.stringify({ title: 'New', cover, files: '[]' }),
      headers: { 'content-type': 'application/json' },
    })
    expect([status, body.title, body.cover]).toEqual([200, 'New', null])
    expect(world.row(1)).toMatchObject({ cover: null, files: null })
  })
})

describe('a refused upload stores nothing', () => {
  /** A storage that fails the test if something is stored. */
  const untouched = { put: vi.fn(), get: vi.fn(), delete: vi.fn(), list: vi.fn() }

  it.each<[string, number, string, Parameters<typeof upload>[1]]>([
    ['without a session', 401, 'UNAUTHENTICATED', { caller: ANONYMOUS }],
    ['without the permission', 403, 'FORBIDDEN', { caller: READER }],
    ['to a row of another tenant', 404, 'NOT_FOUND', { caller: FOREIGN }],
    ['to a row that does not exist', 404, 'NOT_FOUND', { path: '/posts/99/upload/cover' }],
    ['to an id that no row can have', 404, 'NOT_FOUND', { path: '/posts/x/upload/cover' }],
    ['to a row in the trash', 404, 'NOT_FOUND', { path: '/posts/3/upload/cover' }],
    ['to a row that objectLevel hides', 404, 'NOT_FOUND', { path: '/posts/4/upload/cover' }],
    ['to a field that the caller cannot write', 403, 'FIELD_FORBIDDEN', { path: '/posts/1/upload/secret' }],
    ['from another site', 403, 'CROSS_SITE', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['with another media type', 415, 'UNSUPPORTED_MEDIA_TYPE', { headers: { 'content-type': 'application/json' } }],
    ['with the type of a form without a boundary', 400, 'INVALID_BODY', { headers: { 'content-type': 'multipart/form-data' } }],
    ['with an SVG type', 415, 'UNSUPPORTED_MEDIA_TYPE', { headers: { 'content-type': 'image/svg+xml' } }],
  ])('%s', async (_case, status, code, options) => {
    await open({ storage: untouched as unknown as FileStorage })
    expect(await upload(png(), { headers: PNG, ...options })).toMatchObject({ status, code })
    expect(untouched.put).not.toHaveBeenCalled()
    expect(world.row(1)).toMatchObject({ cover: null, secret: null })
  })

  it('to a field that is not for files', async () => {
    await open()
    expect((await upload(png(), { headers: PNG, path: '/posts/1/upload/title' })).status).toBe(404)
    expect((await upload(png(), { headers: PNG, path: '/notes/a/upload/cover' })).status).toBe(404)
  })

  it.each([
    ['a hook refuses', { beforeUpdate: () => {
      throw apiError('LOCKED', 'Locked.', { status: 423 })
    } }, 423],
    ['a hook fails', { beforeUpdate: () => {
      throw new Error('broken')
    } }, 500],
  ])('if %s', async (_case, hooks, status) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ hooks } as WorldOptions)
    expect((await upload(form(png(), 'a.png'))).status).toBe(status)
    expect(world.stored()).toEqual([])
  })

  it('if a hook drops the file from the update', async () => {
    await open({ hooks: { beforeUpdate: () => ({ title: 'Only this' }) } } as WorldOptions)
    expect((await upload(form(png(), 'a.png'))).body).toMatchObject({ title: 'Only this', cover: null })
    expect(world.stored()).toEqual([])
  })

  it('keeps the file if a hook fails after the commit', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ hooks: { afterUpdate: () => {
      throw new Error('broken')
    } } } as WorldOptions)
    expect((await upload(form(png(), 'a.png'))).status).toBe(500)
    expect(world.stored()).toEqual([`posts/31/cover/${(JSON.parse(world.row(1).cover as string) as { key: string }).key}`])
  })

  it('if the row disappears while the file arrives', async () => {
    await open()
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(png(1, 1, 50_000))
        await new Promise(resolve => setTimeout(resolve, 100))
        world.client.exec('update posts set deleted_at = 1 where id = 1')
        controller.close()
      },
    })
    expect(await upload(body, { headers: PNG })).toMatchObject({ status: 404 })
    expect(world.stored()).toEqual([])
  })

  it('if the client leaves', async () => {
    await open()
    const { port } = await world.listen(EDITOR)
    await sendRaw(
      port,
      [
        'POST /api/posts/1/upload/cover HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 150000\r\n\r\n',
        png(1, 1, 80_000),
      ],
      { leave: true },
    )
    await vi.waitFor(() => expect(world.stored()).toEqual([]))
    expect(world.row(1).cover).toBeNull()
  })
})
