/** Inserts the demo data into an empty database, in one transaction. */
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { NewsroomDatabase } from '../client'
import { auditLog, comments, media, organizations, posts, postsTags, tags, users } from '../schema'
import { changes } from './changes'
import { covers, writeCovers } from './covers'
import { newsroomRows } from './rows'

/** Rows per INSERT: far below SQLite's 32 766 parameters with the widest table. */
const CHUNK = 500

/** Returns whether the database was empty. */
export function seedNewsroom(db: NewsroomDatabase): boolean {
  // Immediate: if two servers start on one file, the second waits here, and then finds the rows of the first.
  return db.transaction((tx) => {
    if (tx.select({ id: organizations.id }).from(organizations).limit(1).all().length > 0)
      return false
    const rows = newsroomRows()
    const pictures = covers(rows.organizations, rows.posts)
    const coverOf = new Map(pictures.map(({ postId, cover }) => [postId, cover]))

    function insert<T extends SQLiteTable>(table: T, all: T['$inferInsert'][]) {
      for (let start = 0; start < all.length; start += CHUNK)
        tx.insert(table).values(all.slice(start, start + CHUNK)).run()
    }

    // Parents before children, because foreign keys are enforced.
    insert(organizations, rows.organizations)
    insert(users, rows.users)
    insert(tags, rows.tags)
    insert(posts, rows.posts.map(post => ({ ...post, cover: coverOf.get(post.id) ?? null })))
    insert(postsTags, rows.postsTags)
    insert(comments, rows.comments)
    insert(media, rows.media)
    insert(auditLog, changes(rows))
    writeCovers(pictures)
    return true
  }, { behavior: 'immediate' })
}
