/** The measured tables, and the relation for the included author. */
import { relations } from 'drizzle-orm'
import { posts, users } from '../../../app/server/database/schema'

export { organizations, posts, users } from '../../../app/server/database/schema'
export const postsRelations = relations(posts, ({ one }) => ({ author: one(users, { fields: [posts.authorId], references: [users.id] }) }))
