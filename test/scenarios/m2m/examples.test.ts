/** Runs the examples of the docs page `relations`. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { OPEN, serveTables, type TablesServer } from '../../support/tables-server'
import { playlistsHooks } from './examples/hooks'
import { autoApi } from './examples/options'
import * as schema from './examples/schema'

const { playlists, songs, listeners } = schema
const authorization = { permissions: OPEN }

let target: TablesServer
let log: ReturnType<typeof vi.spyOn>

beforeEach(async () => {
  log = vi.spyOn(console, 'info').mockImplementation(() => {})
  target = await serveTables(
    `
    create table playlists (id integer primary key autoincrement, name text not null);
    create table songs (id integer primary key autoincrement, title text not null, seconds integer);
    create table listeners (id integer primary key autoincrement, name text not null);
    create table playlist_songs (playlist_id integer not null, song_id integer not null, position integer not null default 0, primary key (playlist_id, song_id));
    create table fans (id integer primary key autoincrement, song_id integer not null, listener_id integer not null, since integer not null);
    insert into playlists values (1, 'Monday'); insert into songs values (1, 'Red', 60), (2, 'Blue', 90), (3, 'Green', 30); insert into listeners values (1, 'Ann');
    insert into playlist_songs values (1, 2, 1);
  `,
    [schema],
    {
      playlists: { schema: playlists, authorization, hooks: playlistsHooks },
      songs: { schema: songs, authorization },
      listeners: { schema: listeners, authorization },
    },
    { m2m: { ...DEFAULT_CONFIG.m2m, ...autoApi.m2m } },
  )
})
afterEach(() => vi.restoreAllMocks())

const send = async (method: string, path: string, body?: unknown) => {
  const answer = await target.request(method, `/api/${path}`, { body, caller: { user: { id: 1, name: 'Ann' } } })
  return { status: answer.status, body: answer.body }
}

describe('the docs page relations', () => {
  it('reads linked records, with metadata on request', async () => {
    expect((await send('GET', 'playlists/1/relations/songs?includeMetadata=true&fields=id,title')).body).toEqual({
      data: [{ id: 2, title: 'Blue', _junction: { position: 1 } }], meta: { page: 1, limit: 20, total: 1 },
    })
    await send('POST', 'playlists/1/relations/songs', { ids: [1, 3] })
    expect((await send('GET', 'playlists/1/relations/songs?sort=-seconds&limit=5&fields=id,title')).body.data).toEqual([
      { id: 2, title: 'Blue' },
      { id: 1, title: 'Red' },
      { id: 3, title: 'Green' },
    ])
  })

  it('adds links with metadata and returns the counts', async () => {
    expect(await send('POST', 'playlists/1/relations/songs', { ids: [2, 3], metadata: { position: 1 } })).toEqual({
      status: 200,
      body: { added: 1, removed: 0, total: 2 },
    })
    expect(target.rows('playlist_songs')).toEqual([[1, 2, 1], [1, 3, 1]])
  })

  it('adds links with metadata per link', async () => {
    await send('POST', 'playlists/1/relations/songs', { ids: [1, 3], metadata: { position: 1 }, metadataById: { 3: { position: 2 } } })
    expect(target.rows('playlist_songs')).toEqual([[1, 2, 1], [1, 1, 1], [1, 3, 2]])
  })

  it('joins resources over a junction that the options name', async () => {
    expect((await send('POST', 'songs/1/relations/listeners', { ids: [1], metadata: { since: 1999 } })).body).toEqual({
      added: 1,
      removed: 0,
      total: 1,
    })
    expect((await send('GET', 'listeners/1/relations/songs?fields=title')).body.data).toEqual([{ title: 'Red' }])
  })

  it('lists the junctions and the resources they join', async () => {
    expect((await send('GET', '_m2m/detect/playlists')).body).toEqual({
      resource: 'playlists',
      relationships: [{ name: 'songs', resource: 'songs', junction: 'playlist_songs' }],
    })
    expect((await send('GET', '_m2m/is-junction/playlist_songs')).body.isJunction).toBe(true)
  })

  it('lets hooks refuse a change and record it', async () => {
    expect((await send('PUT', 'playlists/1/relations/songs', { ids: [1, 3] })).status).toBe(200)
    expect(log).toHaveBeenCalledWith('Ann: songs +2 -1, now 2')
    for (let id = 4; id < 60; id++) await send('POST', 'songs', { title: 'more' })
    expect((await send('PUT', 'playlists/1/relations/songs', { ids: Array.from({ length: 51 }, (_, index) => index + 1) })).status).toBe(
      422,
    )
    expect(target.rows('playlist_songs')).toHaveLength(2)
  })
})
