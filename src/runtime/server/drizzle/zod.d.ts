/** The part of `drizzle-orm/zod` that `major-1.ts` uses. Only Drizzle 1.0 has it, and the repository is compiled with 0.45. */
declare module 'drizzle-orm/zod' {
  type CreateSchema = (table: import('drizzle-orm').Table, refinements: object) => unknown
  export const createInsertSchema: CreateSchema
  export const createSelectSchema: CreateSchema
  export const createUpdateSchema: CreateSchema
}
