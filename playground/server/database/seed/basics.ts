/** Shared by all parts of the seed: row types, the first day, slugs. */
import type { organizations, posts, tags, users } from '../schema'

export type OrganizationRow = typeof organizations.$inferInsert & { id: number }
export type UserRow = typeof users.$inferInsert & { id: number }
export type TagRow = typeof tags.$inferInsert & { id: number }
export type PostRow = typeof posts.$inferInsert & { id: number }

/** The first day of the demo data. All other dates are relative to it. */
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
