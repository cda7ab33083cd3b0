/** The tables of docs/relations.md: songs in playlists, and who follows whom. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const playlists = sqliteTable('playlists', { id: integer('id').primaryKey({ autoIncrement: true }), name: text('name').notNull() })
export const songs = sqliteTable('songs', { id: integer('id').primaryKey({ autoIncrement: true }), title: text('title').notNull(), seconds: integer('seconds') })

export const playlistSongs = sqliteTable('playlist_songs', {
  playlistId: integer('playlist_id').notNull().references(() => playlists.id, { onDelete: 'cascade' }),
  songId: integer('song_id').notNull().references(() => songs.id, { onDelete: 'cascade' }),
  position: integer('position').notNull().default(0),
}, table => [primaryKey({ columns: [table.playlistId, table.songId] })])

/** The database does not say that it joins anything: its key is its own, and `since` is required. */
export const fans = sqliteTable('fans', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  songId: integer('song_id').notNull().references(() => songs.id),
  listenerId: integer('listener_id').notNull().references(() => listeners.id),
  since: integer('since').notNull(),
})

export const listeners = sqliteTable('listeners', { id: integer('id').primaryKey({ autoIncrement: true }), name: text('name').notNull() })
