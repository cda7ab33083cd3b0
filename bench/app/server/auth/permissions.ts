/** Permissions by role, for all implementations. */
export const PERMISSIONS: Readonly<Record<'guest' | 'writer' | 'editor', readonly string[]>> = {
  guest: [],
  writer: ['posts:read', 'activity:read'],
  editor: ['posts:read', 'posts:edit', 'activity:read'],
}
