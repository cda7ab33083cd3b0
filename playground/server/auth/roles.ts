/** The permissions of each role. */
import type { users } from '../database/schema'

export type Role = typeof users.$inferSelect['role']

const READER = ['comments:write']
const WRITER = [...READER, 'posts:write', 'media:write']
const EDITOR = [...WRITER, 'posts:edit', 'posts:publish', 'posts:delete', 'comments:moderate', 'media:delete', 'tags:edit', 'users:contact']
const ADMIN = [...EDITOR, 'posts:purge', 'users:manage', 'organization:manage']

export const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  reader: READER,
  writer: WRITER,
  editor: EDITOR,
  admin: ADMIN,
}
