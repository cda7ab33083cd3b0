/** The limits on included records of a response and on their size, counted as JSON repeats them. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { createServer } from '../../support/server'

const artists = sqliteTable('artists', { id: integer('id').primaryKey(), name: text('name') })
const tracks = sqliteTable('tracks', { id: integer('id').primaryKey(), artistId: integer('artist_id').references(() => artists.id) })
const playlists = sqliteTable('playlists', { id: integer('id').primaryKey(), name: text('name') })
const trackPlaylists = sqliteTable(
  'track_playlists',
  {
    trackId: integer('track_id')
      .notNull()
      .references(() => tracks.id),
    playlistId: integer('playlist_id')
      .notNull()
      .references(() => playlists.id),
  },
  t => [primaryKey({ columns: [t.trackId, t.playlistId] })],
)

let client: Database.Database
let statements: { text: string, values: unknown[] }[]
afterEach(() => client.close())

/** So many tracks, each in each of so many playlists, of three artists; one track has none. */
async function open({
  size,
  maxRows = 25_000,
  maxBytes = 2 ** 22,
  objectLevelMaxRows = 10_000,
  auth = {},
}: {
  size: number
  maxRows?: number
  maxBytes?: number
  objectLevelMaxRows?: number
  auth?: Partial<Record<'artists' | 'tracks' | 'playlists' | 'trackPlaylists', Partial<ResourceAuth>>>
}) {
  client = new Database(':memory:')
  client.exec(`
    create table artists (id integer primary key, name text);
    create table tracks (id integer primary key, artist_id integer);
    create table playlists (id integer primary key, name text);
    create table track_playlists (track_id integer, playlist_id integer, primary key (track_id, playlist_id));
    insert into artists values (1, 'Ann'), (2, 'Bob'), (3, 'Cid');
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${size}) insert into tracks select i, case when i = 1 then null else i % 3 + 1 end from n;
    insert into playlists select id, 'list ' || id from tracks;
    insert into track_playlists select t.id, p.id from tracks t, playlists p;
  `)
  statements = []
  const authorization = (name: keyof typeof auth) => ({ permissions: { read: true as const }, ...auth[name] }) as ResourceAuth
  const server = await createServer({
    db: drizzle({ client, logger: { logQuery: (text, values) => void statements.push({ text, values }) } }),
    registrations: [
      { name: 'artists', schema: artists, authorization: authorization('artists') },
      { name: 'tracks', schema: tracks, authorization: authorization('tracks') },
      { name: 'playlists', schema: playlists, authorization: authorization('playlists') },
      ...(auth.trackPlaylists ? [{ name: 'trackPlaylists', schema: trackPlaylists, authorization: authorization('trackPlaylists') }] : []),
    ],
    modules: [{ artists, tracks, playlists, trackPlaylists }],
    config: { relations: { ...DEFAULT_CONFIG.relations, maxRows, maxBytes }, objectLevelMaxRows },
  })
  statements.length = 0
  return (path: string) => server.request('GET', `/api/${path}`)
}

/** The records below the roots, as the JSON holds them. */
function countIncluded(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countIncluded(item), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>(
    (sum, field) =>
      sum + countIncluded(field) + (Array.isArray(field) ? field.length : Number(typeof field === 'object' && field !== null)),
    0,
  )
}

const odd = { objectLevel: (row: Record<string, unknown>) => Number(row.id) % 2 === 1 }

const INCLUDES: [string, string, Parameters<typeof open>[0]['auth']][] = [
  ['to-one, joined', 'tracks?include=artist', {}],
  ['to-one, shared by many', 'tracks?include=artist.tracks', {}],
  ['to-one, judged by code', 'tracks?include=artist', { artists: odd }],
  ['to-many', 'artists?include=tracks', {}],
  ['to-many with a limit', 'artists?include=tracks{limit:1}', {}],
  ['to-many, judged by code', 'artists?include=tracks{limit:2}', { tracks: { objectLevel: row => Number(row.id) > 2 } }],
  ['many-to-many', 'tracks?include=playlists', {}],
  ['many-to-many, back again', 'tracks?include=playlists.tracks', {}],
  ['three levels', 'tracks?include=playlists.tracks.artist', {}],
  ['three levels with a limit', 'tracks?include=playlists{limit:2}.tracks{limit:1}.playlists', {}],
  ['three levels, judged by code', 'tracks?include=playlists.tracks.playlists', { playlists: odd }],
  ['links judged by code', 'tracks?include=playlists.tracks', { trackPlaylists: { objectLevel: row => row.trackId !== row.playlistId } }],
  ['several side by side', 'tracks?include=artist,playlists', {}],
  ['one record', 'tracks/2?include=artist.tracks.playlists', {}],
]

describe('the limit on included records refuses one record more, and allows exactly as many', () => {
  it.each(INCLUDES)('%s', async (_, path, auth) => {
    const answered = await (await open({ size: 4, auth }))(path)
    const included = countIncluded(answered.body.data ?? answered.body)
    expect([answered.status, included > 1]).toEqual([200, true])
    client.close()
    const exact = await (await open({ size: 4, auth, maxRows: included }))(path)
    expect([exact.status, exact.body]).toEqual([200, answered.body])
    client.close()
    const { status, body } = await (await open({ size: 4, auth, maxRows: included - 1 }))(path)
    expect([status, body.data?.code]).toEqual([400, 'LIMIT_EXCEEDED'])
  })
})

/** The least `maxBytes` with which the request is answered. */
async function leastBytes(path: string, auth: Parameters<typeof open>[0]['auth']): Promise<number> {
  let [refused, answered] = [0, 2 ** 22]
  while (answered - refused > 1) {
    const maxBytes = Math.floor((refused + answered) / 2)
    const { status } = await (await open({ size: 4, auth, maxBytes }))(path)
    client.close()
    if (status === 200) answered = maxBytes
    else refused = maxBytes
  }
  return answered
}

/** The JSON of the included records, each time the response repeats them. */
function sizeIncluded(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>(
    (sum, field) => sum + (typeof field === 'object' && field !== null ? Math.max(JSON.stringify(field).length, 0) : 0),
    0,
  )
}

describe('the limit on the size of included records is that of their JSON', () => {
  it.each(INCLUDES)('%s', async (_, path, auth) => {
    const { body } = await (await open({ size: 4, auth }))(path)
    client.close()
    const size = [body.data ?? body].flat().reduce((sum: number, record: object) => sum + sizeIncluded(record), 0)
    const least = await leastBytes(path, auth)
    // Numbers are counted as eight characters, and lists of nested records not at all.
    expect([least > size / 2, least < size * 2]).toEqual([true, true])
  })
})

it('checks no more hidden rows for an include than configured', async () => {
  const hidden = { tracks: { objectLevel: () => false } }
  const config = { objectLevelMaxRows: 3, maxRows: 1 }
  const within = await (await open({ size: 4, auth: hidden, ...config }))('artists?include=tracks')
  expect([within.status, countIncluded(within.body.data)]).toEqual([200, 0])
  client.close()
  const { status, body } = await (await open({ size: 5, auth: hidden, ...config }))('artists?include=tracks')
  expect([status, body.message]).toEqual([
    400,
    'More than 3 rows would have to be checked one by one. Request fewer records, or narrow the filter.',
  ])
})

describe('ninety tracks in ninety playlists', () => {
  it.each(['playlists.tracks', 'playlists.tracks.playlists'])('are refused before they are read, with include=%s', async (include) => {
    const request = await open({ size: 90 })
    const begin = performance.now()
    const { status, body } = await request(`tracks?limit=90&count=none&include=${include}`)
    expect([status, body.data.code, body.message]).toEqual([
      400,
      'LIMIT_EXCEEDED',
      'The response would hold more than 25000 included records. Request fewer, or set limits in `include`.',
    ])
    expect(performance.now() - begin).toBeLessThan(1000)
    // The roots, 8100 playlists, and a track more than each playlist's 90 places leave room for.
    expect(statements.map(({ values }) => values.at(-1))).toEqual([91, 25_001, Math.floor((25_000 - 8100) / 90) + 1])
  })

  it('are returned with one level, which is within the limit', async () => {
    const { status, body } = await (await open({ size: 90 }))('tracks?limit=90&count=none&include=playlists')
    expect([status, countIncluded(body.data)]).toEqual([200, 8100])
  })
})
