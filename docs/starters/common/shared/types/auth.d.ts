/** The user of the session, as `ctx.user` in the rules. */
declare module 'nuxt-auto-api/define' {
  interface AutoApiUser {
    id: string
    name: string
    email: string
    role: 'member' | 'admin'
  }
}

export {}
