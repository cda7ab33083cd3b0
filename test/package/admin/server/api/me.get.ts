/** The caller, for the middleware of the pages. */
export default defineEventHandler(({ context }): { user: { id: string } | null } => ({ user: context.user ?? null }))
