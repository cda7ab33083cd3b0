/** What every part of the seed shares: row types, the first day, slugs. */
import type { organizations, posts, tags, users } from '../schema'

export type OrganizationRow = typeof organizations.$inferInsert & { id: number }
export type UserRow = typeof users.$inferInsert & { id: number }
export type TagRow = typeof tags.$inferInsert & { id: number }
export type PostRow = typeof posts.$inferInsert & { id: number }

/** The day the newsrooms opened; every other date is counted from here, never from today. */
export const FOUNDED = new Date('2024-01-02T08:00:00.000Z')

/** `Dvořák’s café` → `dvoraks-cafe` */
export function toSlug(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036F’“”]/g, '')
    .replace(/ø/g, 'o')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
