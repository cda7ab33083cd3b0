/** The types of authorization and hooks: columns, operations and the app's own user. */
import { count, eq, gt, sql } from 'drizzle-orm'
import { integer, sqliteTable, sqliteView, text } from 'drizzle-orm/sqlite-core'
import { defineResource, defineResourceAuth, defineResourceHooks, type AutoApiContext, type AutoApiUser } from 'nuxt-auto-api/define'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

declare module 'nuxt-auto-api/define' {
  interface AutoApiUser {
    badge?: 'gold' | 'silver'
  }
}

export const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  salary: integer('salary'),
})

describe('the authorization of a table', () => {
  test('knows the columns', () => {
    defineResourceAuth<typeof posts>({ fields: { salary: { read: 'hr', write: ['hr', 'boss'] } } })
    // @ts-expect-error -- no such column
    defineResourceAuth<typeof posts>({ fields: { wage: { read: 'hr' } } })
    // @ts-expect-error -- a rule reads and writes
    defineResourceAuth<typeof posts>({ fields: { salary: { delete: 'hr' } } })
    defineResourceAuth<typeof posts>({
      listFilter(table) {
        expectTypeOf(table).toEqualTypeOf<typeof posts>()
        // @ts-expect-error -- no such column
        return eq(table.wage, 1)
      },
    })
  })

  test('knows the rows', () => {
    defineResourceAuth<typeof posts>({
      objectLevel(row) {
        expectTypeOf(row).toEqualTypeOf<{ id: number, title: string, salary: number | null }>()
        return true
      },
    })
  })

  test('knows the operations', () => {
    defineResourceAuth<typeof posts>({
      permissions: {
        read: true,
        create: ctx => !!ctx.user,
        update: 'posts:write',
        delete: ['admin', ctx => ctx.user?.badge === 'gold'],
        aggregate: false,
        restore: { policy: 'x' },
        purge: async () => true,
        viewDeleted: 'x',
      },
    })
    // @ts-expect-error -- no such operation
    defineResourceAuth<typeof posts>({ permissions: { list: true } })
    // @ts-expect-error -- no such operation
    defineResourceAuth<typeof posts>({ permissions: { write: true } })
  })

  test('knows what a permission can be', () => {
    // @ts-expect-error -- a number is not a permission
    defineResourceAuth<typeof posts>({ permissions: { read: 1 } })
    // @ts-expect-error -- undefined is not a permission: leave the operation out
    defineResourceAuth<typeof posts>({ permissions: { read: null } })
    // @ts-expect-error -- a list of numbers is not a permission
    defineResourceAuth<typeof posts>({ permissions: { read: [1] } })
  })

  test('accepts only SQL or undefined as a filter', () => {
    defineResourceAuth<typeof posts>({ listFilter: () => undefined })
    defineResourceAuth<typeof posts>({ listFilter: async table => eq(table.id, 1) })
    // @ts-expect-error -- a boolean is not a condition
    defineResourceAuth<typeof posts>({ listFilter: () => false })
    // @ts-expect-error -- null is not a condition
    defineResourceAuth<typeof posts>({ listFilter: () => null })
  })
})

describe('the hooks of a table', () => {
  test('know the columns of created rows', () => {
    defineResourceHooks<typeof posts>({
      beforeCreate(data) {
        expectTypeOf(data.title).toEqualTypeOf<string | undefined>()
        expectTypeOf(data.salary).toEqualTypeOf<number | null | undefined>()
      },
    })
    // @ts-expect-error -- no such hook
    defineResourceHooks<typeof posts>({ beforeSave: () => {} })
  })
})

describe('the context', () => {
  test('knows the user as the app describes it', () => {
    expectTypeOf<AutoApiContext['user']>().toEqualTypeOf<AutoApiUser | null>()
    expectTypeOf<AutoApiUser['badge']>().toEqualTypeOf<'gold' | 'silver' | undefined>()
    defineResourceAuth<typeof posts>({
      permissions: {
        // @ts-expect-error -- no such badge
        read: ctx => ctx.user?.badge === 'bronze',
        // @ts-expect-error -- an anonymous caller is no user
        update: ctx => ctx.user.badge === 'gold',
      },
    })
  })

  test('does not allow a rule to change the operation', () => {
    // @ts-expect-error -- read-only
    defineResourceAuth<typeof posts>({ permissions: { read: ctx => (ctx.operation = 'delete') } })
  })
})

describe('a resource file', () => {
  test('knows the columns, the rows and the operations of its table', () => {
    defineResource(posts, {
      permissions: { read: true, update: ctx => ctx.user?.badge === 'gold' },
      listFilter: table => eq(table.title, 'a'),
      objectLevel: row => expectTypeOf(row).toEqualTypeOf<{ id: number, title: string, salary: number | null }>(),
      fields: { salary: { read: 'hr' } },
      hooks: { beforeCreate: data => expectTypeOf(data.title).toEqualTypeOf<string | undefined>() },
      hiddenFields: ['salary'],
      disabled: ['purge'],
    })
    // @ts-expect-error -- no such operation
    defineResource(posts, { permissions: { publish: true } })
    // @ts-expect-error -- no such column
    defineResource(posts, { hiddenFields: ['wage'] })
    // @ts-expect-error -- no such key
    defineResource(posts, { premissions: { read: true } })
    // @ts-expect-error -- not a table
    defineResource('posts', {})
  })

  test('keeps the type of its validation', () => {
    const create = z.object({ title: z.string() })
    expectTypeOf(defineResource(posts, { validation: { create } }).validation).toEqualTypeOf<{ create: typeof create }>()
  })
})

const statistics = sqliteView('statistics').as(qb =>
  qb.select({ id: posts.id, title: posts.title, count: count().as('count'), best: sql`1`.mapWith(Number).as('best') }).from(posts))
const counters = sqliteView('counters', { day: text('day').notNull(), total: integer('total') }).existing()

describe('the resource of a view', () => {
  test('knows the columns and the expressions of the view', () => {
    defineResource(statistics, {
      key: 'id',
      references: { id: 'posts' },
      tracks: ['posts'],
      hiddenFields: ['best'],
      permissions: { read: true },
      fields: { count: { read: 'x' } },
      listFilter: (table) => {
        expectTypeOf(table).toEqualTypeOf<typeof statistics>()
        return gt(table.count, 1)
      },
      objectLevel: (row) => {
        expectTypeOf(row).toEqualTypeOf<{ id: number, title: string, count: number, best: number }>()
        return true
      },
      hooks: { afterGet: record => ({ ...record, count: (record.count ?? 0) + 1 }) },
    })
    defineResource(counters, { key: ['day'], fields: { total: { read: 'x' } }, objectLevel: row => row.total === null || row.day > '2' })
    defineResourceAuth<typeof statistics>({ fields: { best: { read: 'x' } } })
    // @ts-expect-error -- no such column
    defineResource(statistics, { key: 'ids' })
    // @ts-expect-error -- no such column
    defineResource(statistics, { key: 'id', references: { postId: 'posts' } })
    // @ts-expect-error -- no such column
    defineResource(counters, { key: 'day', fields: { sum: { read: 'x' } } })
    // @ts-expect-error -- no such column
    defineResourceAuth<typeof statistics>({ fields: { worst: { read: 'x' } } })
  })
})
