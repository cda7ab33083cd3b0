/** The playground's API on Cloudflare Workers and D1 returns the same responses for the same rows. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMPLES } from '../../playground/app/explorer/examples'
import { toPath } from '../../playground/app/explorer/path'
import { CHECKS, count, findViews } from './newsroom/explorer'
import { ADMIN, EDITOR, PUBLIC, WRITER } from './newsroom/callers'
import { isIncomplete } from '../../src/runtime/plugins/data-export/shared/failure'
import { openReceiver } from '../plugins/webhooks/world'
import { createPng } from '../support/png'
import { describeStreams, memoryOfChild } from '../support/streams'
import { startEdge } from './newsroom/edge'
import { describePolling } from './newsroom/polling'
import { CACHING, cachingOf } from './support/caching'
import { describeCapabilities, describeTags } from './newsroom/relations'
import { describeTrash } from './newsroom/trash'

const folder = mkdtempSync(join(tmpdir(), 'edge-'))
let newsroom: Awaited<ReturnType<typeof startEdge>>

beforeAll(async () => {
  newsroom = await startEdge(folder)
})

afterAll(async () => {
  await newsroom?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it('knows the place of a client from Cloudflare, and the address only from its header', async () => {
  const { body, headers } = await newsroom.request('/api/metadata', { headers: { 'x-forwarded-for': '6.6.6.6', 'user-agent': 'reader' } })
  expect(body).toEqual({
    requestId: headers.get('x-request-id'),
    ip: expect.not.stringContaining('6.6.6.6'),
    userAgent: 'reader',
    country: expect.any(String),
    city: expect.any(String),
    region: expect.any(String),
    timezone: expect.any(String),
  })
})

describe('reading at the edge', () => {
  it('returns a page and the total number of rows', async () => {
    const { status, body } = await newsroom.request('/api/posts?page=2&limit=5')
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.meta).toEqual({ page: 2, limit: 5, total: count(newsroom.rows, PUBLIC) })
    expect(body.data.map(({ id }: { id: number }) => id)).toEqual(
      newsroom.rows<{ id: number }>(`select id from posts where ${PUBLIC} order by id limit 5 offset 5`).map(({ id }) => id),
    )
  })

  it('returns every row once by cursor', async () => {
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, body }: { status: number, body: { data: { id: number }[], meta: { nextCursor: string | null } } }
        = await newsroom.request(`/api/posts?sort=-publishedAt&limit=100&fields=id&cursor=${cursor}`)
      expect(status).toBe(200)
      seen.push(...body.data.map(({ id }) => id))
      cursor = body.meta.nextCursor
    }
    expect(seen).toEqual(
      newsroom.rows<{ id: number }>(`select id from posts where ${PUBLIC} order by published_at desc, id desc`).map(({ id }) => id),
    )
  })

  it.each(EXAMPLES)('returns the rows of the tables for the explorer\'s examples: $label', async ({ label, draft }) => {
    const { as, check } = CHECKS[label]!
    const { fields } = (await findViews(newsroom, as)).get(draft.resource)!
    const answer = await newsroom.request(toPath(draft, fields), { as })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    await check(answer, newsroom)
  })

  it('filters by a list of 500 values', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => index + 1)
    const { body } = await newsroom.request(`/api/posts?limit=1&filter=${encodeURIComponent(JSON.stringify({ id: { $in: ids } }))}`)
    expect(body.meta.total).toBe(count(newsroom.rows, `${PUBLIC} and id <= 500`))
  })
})

describe('writing at the edge', () => {
  const post = (title: string) => ({ title, slug: title.toLowerCase().replaceAll(' ', '-'), body: 'Written at the edge.' })

  it('sets the tenant and the author of a new record', async () => {
    const { status, body, headers } = await newsroom.request('/api/posts', { method: 'POST', as: WRITER, body: post('From the edge') })
    expect(status, JSON.stringify(body)).toBe(201)
    expect(headers.get('location')).toBe(`/api/posts/${body.id}`)
    expect(newsroom.rows('select title, organization_id, created_by from posts where id = ?', body.id)).toEqual([
      { title: 'From the edge', organization_id: 1, created_by: WRITER },
    ])
  })

  it.each([
    ['an anonymous caller', undefined, 401],
    ['a caller without the permission', WRITER, 403],
  ])('refuses to delete for %s, and deletes nothing', async (_who, as, status) => {
    const before = newsroom.rows('select * from posts where id = 1')
    expect((await newsroom.request('/api/posts/1', { method: 'DELETE', as })).status).toBe(status)
    expect(newsroom.rows('select * from posts where id = 1')).toEqual(before)
  })

  it('creates 100 records in one commit, or none', async () => {
    const before = count(newsroom.rows, '1 = 1')
    const items = Array.from({ length: 100 }, (_, index) => post(`Edge item ${index}`))
    const refused = await newsroom.request('/api/posts/bulk', {
      method: 'POST',
      as: ADMIN,
      body: { items: [...items.slice(0, 99), { ...items[99]!, slug: items[0]!.slug }] },
    })
    expect({ status: refused.status, code: refused.body.data.code }).toEqual({ status: 409, code: 'BULK_FAILED' })
    expect(count(newsroom.rows, '1 = 1')).toBe(before)
    const { status, body } = await newsroom.request('/api/posts/bulk', { method: 'POST', as: ADMIN, body: { items } })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.meta).toMatchObject({ total: 100, successful: 100, failed: 0 })
    expect(count(newsroom.rows, '1 = 1')).toBe(before + 100)
  })

  it('returns the same response for a missing and for a hidden record', async () => {
    const [foreign] = newsroom.rows<{ id: number }>('select id from posts where organization_id = 2 limit 1')
    const missing = await newsroom.request('/api/posts/999999999', { as: EDITOR })
    const hidden = await newsroom.request(`/api/posts/${foreign!.id}`, { as: EDITOR })
    expect([missing.status, hidden.status]).toEqual([404, 404])
    expect(hidden.body.data).toEqual(missing.body.data)
  })
})

describe('files at the edge', () => {
  const send = (method: string, path: string, init: RequestInit = {}) =>
    fetch(`${newsroom.url}/api/posts/1/${path}`, { method, ...init, headers: { 'x-demo-user': String(EDITOR), ...init.headers } })
  // R2 receives it in two parts.
  const image = createPng(60, 40, [200, 90, 40], new Uint8Array(9_000_000))
  const upload = (body: Uint8Array) =>
    send('POST', 'upload/cover?name=sunrise.png', { body: body as never, headers: { 'content-type': 'image/png' } })

  it('are stored in R2, served, replaced and removed', async () => {
    const first = await (await upload(createPng(9, 9, [0, 0, 0]))).json() as { cover: { key: string } }
    expect(await newsroom.stored()).toEqual([`posts/31/cover/${first.cover.key}`])
    const response = await upload(image)
    const { cover } = await response.json() as { cover: { key: string } }
    expect([response.status, cover]).toMatchObject([
      200,
      {
        name: 'sunrise.png',
        type: 'image/png',
        size: image.byteLength,
        width: 60,
        height: 40,
        sha256: createHash('sha256').update(image).digest('hex'),
      },
    ])
    expect(await newsroom.stored()).toEqual([`posts/31/cover/${cover.key}`])
    expect(Buffer.from(await (await send('GET', 'files/cover')).arrayBuffer()).equals(image)).toBe(true)
    const part = await send('GET', 'files/cover', { headers: { range: 'bytes=1-3' } })
    expect([part.status, await part.text()]).toEqual([206, 'PNG'])
    expect((await send('DELETE', 'files/cover')).status).toBe(200)
    expect(await newsroom.stored()).toEqual([])
  })

  it('are not stored if they are refused, and cannot be set by an update', async () => {
    for (const [body, status] of [
      [Buffer.from('<html>'), 415],
      [createPng(9, 9, [0, 0, 0], new Uint8Array(13_000_000)), 413],
    ] as const)
      expect((await upload(body)).status).toBe(status)
    const { status, body } = await newsroom.request('/api/posts/1', {
      method: 'PATCH',
      as: EDITOR,
      body: { cover: { key: '01936f00-0000-7000-8000-000000000000', name: 'x', type: 'text/html', size: 1, sha256: 'x' } },
    })
    expect([status, body.cover, await newsroom.stored()]).toEqual([200, null, []])
  })
})

describe('webhooks at the edge', () => {
  it('follow the response, are attempted again by the task of every minute, and are sent again by a request', async () => {
    let status = 500
    const receiver = await openReceiver(response => void response.writeHead(status).end('noted'))
    const send = (method: string, path: string, body?: object) => newsroom.request(`/api/${path}`, { method, as: EDITOR, body })
    const states = () => newsroom.rows<{ status: string, attempts: number, columns: string | null }>(
      'select status, attempts, columns from webhook_deliveries')
    try {
      const { status: made, body: { id } } = await send('POST', 'webhooks', { url: receiver.url, events: ['tags.created'] })
      expect(made).toBe(201)
      expect((await send('POST', 'tags', { name: 'Edge', slug: 'edge' })).status).toBe(201)
      await expect.poll(states).toEqual([{ status: 'failed', attempts: 1, columns: null }])
      expect(receiver.received.map(({ payload }) => [payload.type, (payload.data.record as { slug: string }).slug])).toEqual([['tags.created', 'edge']])

      status = 200
      await new Promise(resolve => setTimeout(resolve, 1500))
      expect(receiver.received).toHaveLength(1)
      await newsroom.runCron()
      await expect.poll(states).toEqual([{ status: 'delivered', attempts: 2, columns: null }])
      const { body: { data: [delivery] } } = await send('GET', 'webhookDeliveries')
      expect(delivery).toMatchObject({ webhookId: id, responseStatus: 200, responseBody: 'noted' })
      expect((await send('POST', `webhookDeliveries/${delivery.id}/retry`)).body).toMatchObject({ status: 'pending', attempts: 0 })
      await expect.poll(states).toEqual([{ status: 'delivered', attempts: 1, columns: null }])
      expect((await send('POST', `webhooks/${id}/test`)).body).toMatchObject({ status: 'delivered', responseBody: 'noted' })
      const sent = receiver.received.map(({ headers }) => headers['webhook-id'])
      expect([sent.length, new Set(sent.slice(0, 3)).size]).toEqual([4, 1])
      expect((await send('DELETE', `webhooks/${id}`)).status).toBe(200)
    }
    finally {
      await receiver.close()
    }
  })
})

describe('HTTP at the edge', () => {
  it.each(['POST', 'PATCH', 'DELETE'])('refuses a body over the limit: %s', async (method) => {
    const before = count(newsroom.rows, '1 = 1')
    const { status, body } = await newsroom.request('/api/posts/bulk', {
      method,
      as: ADMIN,
      body: { ids: [1], items: [], filler: 'x'.repeat(1_100_000) },
    })
    expect({ status, code: body.data?.code }).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
    expect(count(newsroom.rows, '1 = 1')).toBe(before)
  })

  it('answers HEAD and OPTIONS, and forbids shared caches', async () => {
    for (const [method, status] of [['GET', 200], ['HEAD', 200], ['OPTIONS', 204], ['PUT', 405]] as const) {
      const response = await fetch(`${newsroom.url}/api/posts?limit=1`, { method })
      expect([response.status, cachingOf(response.headers)]).toEqual([status, CACHING])
      if (method === 'HEAD') expect(await response.text()).toBe('')
    }
    expect((await fetch(`${newsroom.url}/api/posts/999999999`)).headers.get('cache-control')).toBe('private, no-cache')
  })
})

describe('streams at the edge', () =>
  describeStreams({
    url: () => newsroom.directUrl,
    resource: 'tags',
    fill: rows =>
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) insert into tags (id, organization_id, name, slug, created_at, updated_at) select 100000 + i, 1, 'tag ' || i, 'tag-' || i, 0, 0 from n where true on conflict do nothing`,
    rss: () => memoryOfChild('workerd'),
    isWorker: true,
  }))

describe('live queries at the edge', () => describePolling(() => newsroom))

describe('exports at the edge', () => {
  const open = (query: string) => fetch(`${newsroom.directUrl}/api/tags/export?${query}`)
  const run = async (sql: string) => {
    const { status } = await newsroom.request('/api/streams/sql', { method: 'POST', body: { sql } })
    expect(status).toBe(204)
  }

  it.each(['csv', 'ndjson', 'json'])('are complete and recorded: %s', async (format) => {
    const ids = newsroom
      .rows<{ id: number }>('select id from tags where organization_id = 1 and id <= 101000 order by id')
      .map(({ id }) => id)
    const response = await open(`format=${format}&fields=id,name&filter[id][$lte]=101000`)
    const text = await response.text()
    expect([response.status, response.headers.get('x-total-count'), isIncomplete(response.headers.get('content-type')!, text)]).toEqual([
      200,
      String(ids.length),
      false,
    ])
    const lines = text.trim().split('\n').slice(format === 'csv' ? 1 : 0)
    expect(lines.map(line => Number(/\d+/.exec(line)![0]))).toEqual(ids)
    const [entry] = newsroom.rows<{ kind: string, resource: string, after: string }>(
      'select kind, resource, after from audit_log order by at desc, id desc limit 1',
    )
    expect([entry!.kind, entry!.resource, JSON.parse(entry!.after)]).toEqual([
      'export',
      'tags',
      expect.objectContaining({ format, rows: ids.length }),
    ])
  })

  // The runtime ends a response that fails like a complete one.
  it.each(['csv', 'ndjson', 'json'])('cannot be read as complete files if the database fails after some pages: %s', async (format) => {
    const response = await open(`format=${format}`)
    expect(Number(response.headers.get('x-total-count'))).toBeGreaterThan(100_000)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    try {
      while (text.split('\n').length < 2000) text += (await reader.read()).value!
      await run('alter table tags rename to lost')
      for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value
    }
    catch {
      // A connection that breaks is as good.
    }
    finally {
      await run('alter table lost rename to tags')
    }
    console.log(
      `failed export, ${format}: ${text.split('\n').length} of ${response.headers.get('x-total-count')} lines, ends with ${JSON.stringify(text.slice(-60))}`,
    )
    expect(text.split('\n').length).toBeLessThan(100_000)
    expect(isIncomplete(response.headers.get('content-type')!, text)).toBe(true)
  })
})

describe('bulk edits and the trash at the edge', () => describeTrash(() => newsroom))

describe('the tags of a post at the edge', () => describeTags(() => newsroom))

// The app at the edge has no API tokens.
describe('capabilities at the edge', () => describeCapabilities(() => newsroom, ['apiTokens']))
