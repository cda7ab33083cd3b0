/** The module that `modules/migrations.ts` generates: file name → content. */
declare module '#newsroom/migrations' {
  export const migrations: Readonly<Record<string, string>>
}
