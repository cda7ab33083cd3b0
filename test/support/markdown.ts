/** The pages of the documentation whose code no file of the repository has. */

/** Pages whose files and commands a test of the package follows in an empty app. */
export const FOLLOWED_PAGES = [
  'docs/1.start/1.getting-started.md',
  'docs/1.start/3.postgres.md',
  'docs/2.guides/4.nuxt-auth-utils.md',
  'docs/2.guides/5.better-auth.md',
] as const
