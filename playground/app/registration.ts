/** The lines of `server/auth/posts.ts` that decide what the callers of the front page receive. `// …` stands for other lines. */
export const REGISTRATION = `export const postsAuth = defineResourceAuth<typeof posts>({
  permissions: {
    read: true,
    // …
    delete: 'posts:delete',
    // …
  },
  listFilter: (table, ctx) => {
    if (ctx.permissions.includes('posts:edit'))
      return undefined
    // …
    return readablePosts(table, ctx)
  },`
