/** The pages of the documentation whose code no file of the repository has. */

/** Pages whose files and commands a test of the package follows in an empty app. */
export const FOLLOWED_PAGES = ['docs/getting-started.md', 'docs/postgres.md', 'docs/nuxt-auth-utils.md', 'docs/better-auth.md'] as const
