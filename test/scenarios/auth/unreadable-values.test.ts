/** No response to a write depends on whether a stored value that the caller cannot read is equal to the value that the caller sends. */
import { ne } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dataExport, responseCache } from '../../../src/runtime/plugins'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import { openDesk, ANN, type Desk, type writers } from '../../support/desk'

const everything = { read: true, create: true, update: true, delete: true } as const
/** `secret` of articles and `pin` of codes are hidden from everybody. */
const RULES: Record<string, ResourceAuth> = {
  'fields with a rule': {
    permissions: everything,
    fields: { writerId: { read: 'hr' }, slug: { read: 'hr' }, fee: { read: 'hr' }, status: { read: 'hr' } },
  },
  'an object-level rule beside it': {
    permissions: everything,
    objectLevel: () => true,
    fields: { writerId: { read: 'hr' }, slug: { read: 'hr' }, fee: { read: 'hr' }, status: { read: 'hr' } },
  },
}

/** Writer 11 belongs to another tenant, 3 is filtered, and 77 does not exist. */
const VALUES: Record<string, readonly (string | number | null)[]> = {
  writerId: [1, 3, 11, 77, null], slug: ['s1', 'new', null], fee: [10, 0, null], status: ['open', 'done'], secret: ['x1', '', null],
}
const CASES = Object.entries(VALUES).flatMap(([name, values]) => values.map(value => [name, value] as const))

const ROWS = `
  insert into writers values (1, 1, 'Ann'), (2, 1, 'Bob'), (3, 1, 'filtered'), (11, 2, 'Zoe');
  insert into articles (id, organization_id, writer_id, title, slug, status, fee, secret) values (1, 1, 2, 'one', 'own', 'draft', 99, 'own'), (2, 1, 1, 'two', 's2', 'open', 20, 'x2'), (11, 2, 11, 'theirs', 's11', 'open', 40, 'x11');
`
const COLUMNS: Record<string, string> = { writerId: 'writer_id' }

describe.each(Object.entries(RULES))('to a caller who cannot read %s', (_rule, articles) => {
  let desk: Desk
  beforeAll(async () => {
    const filtered: ResourceAuth = { permissions: everything, listFilter: table => ne((table as typeof writers).name, 'filtered') }
    desk = await openDesk({ auth: { articles, writers: filtered }, rows: '', plugins: [dataExport(), responseCache()] })
    vi.spyOn(console, 'error').mockImplementation(() => {})
  })
  afterAll(() => {
    vi.restoreAllMocks()
    desk.client.close()
  })

  it.each(CASES)('the responses to `%s: %j` are the same with and without this value in the row', async (name, value) => {
    const data = { [name]: value }
    const csv = (header: string, line: string) => ({ raw: `${header}\n${line}\n`, headers: { 'content-type': 'text/csv' } })
    const requests: [method: string, path: string, options: object][] = [
      ['PATCH', '/articles/1', { body: data }],
      ['PATCH', '/articles/1', { body: { ...data, title: 'one' } }],
      ['PATCH', '/articles/1?dryRun=true', { body: data }],
      ['PATCH', '/articles/bulk', { body: { items: [{ id: 1, data }, { id: 2, data: { title: 'b' } }] } }],
      ['PATCH', '/articles/bulk?dryRun=true', { body: { items: [{ id: 1, data }] } }],
      ['POST', '/articles/import?mode=upsert', csv(`id,${name}`, `1,${value ?? ''}`)],
      ['PATCH', '/articles/1', { body: data, headers: { 'if-match': 'current' } }],
      ['PATCH', '/articles/1', { body: data, headers: { 'if-match': '"other"' } }],
    ]
    for (const [method, path, options] of requests) {
      const answers = []
      for (const isEqual of [false, true]) {
        desk.client.exec(`pragma foreign_keys = off; delete from articles; delete from writers; delete from sqlite_sequence; ${ROWS}`)
        if (isEqual) desk.client.prepare(`update articles set ${COLUMNS[name] ?? name} = ? where id = 1`).run(value)
        desk.client.pragma('foreign_keys = on')
        const { headers = {}, ...rest } = options as { headers?: Record<string, string> }
        const before = await desk.request('GET', '/api/articles/1', { caller: ANN })
        const tag: Record<string, string> = headers['if-match'] === 'current' ? { 'if-match': before.headers.get('etag')! } : {}
        const {
          status,
          text,
          headers: returned,
        } = await desk.request(method, `/api${path}`, { ...rest, headers: { ...headers, ...tag }, caller: ANN })
        const after = await desk.request('GET', '/api/articles/1', { caller: ANN })
        const bytes = ({ text, headers }: { text: string, headers: Headers }) => [
          text,
          ...[...headers].filter(([name]) => name !== 'date').map(header => header.join(': ').replace(/ttl=\d+/, 'ttl')),
        ]
        answers.push([before.text, status, ...bytes({ text, headers: returned }), ...bytes(after)])
      }
      expect([method, path, answers[1]]).toEqual([method, path, answers[0]])
    }
  })
})
