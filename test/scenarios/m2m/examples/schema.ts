/** The tables of the docs page `relations`: playlists, songs and listeners, with two junction tables. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const playlists = sqliteTable('playlists', { id: integer('id').primaryKey({ autoIncrement: true }), name: text('name').notNull() })
export const songs = sqliteTable('songs', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  title: text('title').notNull(),
  seconds: integer('seconds'),
})

export const playlistSongs = sqliteTable('playlist_songs', {
  playlistId: integer('playlist_id').notNull().references(() => playlists.id, { onDelete: 'cascade' }),
  songId: integer('song_id').notNull().references(() => songs.id, { onDelete: 'cascade' }),
  position: integer('position').notNull().default(0),
}, table => [primaryKey({ columns: [table.playlistId, table.songId] })])

/** Not detected as a junction: it has its own primary key, and `since` is required. */
export const fans = sqliteTable('fans', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  songId: integer('song_id').notNull().references(() => songs.id),
  listenerId: integer('listener_id').notNull().references(() => listeners.id),
  since: integer('since').notNull(),
})

export const listeners = sqliteTable('listeners', { id: integer('id').primaryKey({ autoIncrement: true }), name: text('name').notNull() })
