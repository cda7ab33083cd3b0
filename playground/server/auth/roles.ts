/** The permissions of each role. */
import type { users } from '../database/schema'

export type Role = typeof users.$inferSelect['role']

const READER = ['comments:write', 'activity:read']
const WRITER = [...READER, 'posts:write', 'media:write']
const EDITOR = [...WRITER, 'posts:edit', 'posts:publish', 'posts:delete', 'comments:moderate', 'media:delete', 'tags:edit', 'users:contact', 'auditLog:read']
const ADMIN = [...EDITOR, 'posts:purge', 'users:manage', 'organization:manage', 'auditLog:all']

export const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  reader: READER,
  writer: WRITER,
  editor: EDITOR,
  admin: ADMIN,
}
