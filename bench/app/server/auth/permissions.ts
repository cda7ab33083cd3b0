/** What a role may do, the same for both sides. */
export const PERMISSIONS: Readonly<Record<'guest' | 'writer' | 'editor', readonly string[]>> = {
  guest: [],
  writer: ['posts:read'],
  editor: ['posts:read', 'posts:edit'],
}
