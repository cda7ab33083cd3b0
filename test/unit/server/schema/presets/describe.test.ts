/** The column presets make the same table in every dialect. */
import { getTableConfig as mysqlConfig, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { getTableConfig as pgConfig, pgTable, text as pgText } from 'drizzle-orm/pg-core'
import { getTableConfig as sqliteConfig, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import * as mysql from '../../../../../src/runtime/plugins/schema-mysql'
import * as pg from '../../../../../src/runtime/plugins/schema-pg'
import * as sqlite from '../../../../../src/runtime/plugins/schema-sqlite'
import { describeTable } from '../../../../../src/runtime/server/schema/drizzle/table'
import { resourceOf, tenancy } from '../../../../support/tables'

const TABLES = {
  sqlite: {
    all: sqliteTable(
      'posts',
      {
        ...sqlite.id(),
        ...sqlite.tenant(),
        ...sqlite.timestamps(),
        ...sqlite.audit(),
        ...sqlite.softDelete(),
        slug: text('slug').notNull(),
      },
      t => [sqlite.liveUnique('posts_slug', t, t.organizationId, t.slug)],
    ),
    bare: sqliteTable('bare', { ...sqlite.id(), slug: text('slug').notNull() }),
  },
  pg: {
    all: pgTable(
      'posts',
      { ...pg.id(), ...pg.tenant(), ...pg.timestamps(), ...pg.audit(), ...pg.softDelete(), slug: pgText('slug').notNull() },
      t => [pg.liveUnique('posts_slug', t, t.organizationId, t.slug)],
    ),
    bare: pgTable('bare', { ...pg.id(), slug: pgText('slug').notNull() }),
  },
  mysql: {
    all: mysqlTable(
      'posts',
      {
        ...mysql.id(),
        ...mysql.tenant(),
        ...mysql.timestamps(),
        ...mysql.audit(),
        ...mysql.softDelete(),
        slug: varchar('slug', { length: 100 }).notNull(),
      },
      t => [mysql.liveUnique('posts_slug', t, t.organizationId, t.slug)],
    ),
    bare: mysqlTable('bare', { ...mysql.id(), slug: varchar('slug', { length: 100 }).notNull() }),
  },
}

const ROLES = {
  createdAt: 'createdAt', updatedAt: 'updatedAt', createdBy: 'createdBy', updatedBy: 'updatedBy',
  deletedAt: 'deletedAt', deletedBy: 'deletedBy', deletionId: 'deletionId', deletedReason: 'deletedReason',
}

describe.each(Object.entries(TABLES))('the presets of %s', (dialect, tables) => {
  const resource = resourceOf(tables.all, tenancy())

  it('make a primary key that the database generates and clients cannot write', () => {
    expect(resource.primaryKey.map(({ name, kind }) => [name, kind])).toEqual([['id', 'integer']])
    expect(describeTable(tables.all).columns.find(({ name }) => name === 'id')).toMatchObject({ generated: true, nullable: false })
  })

  it('give every column its role', () => {
    expect(Object.fromEntries(Object.entries(resource.roles).map(([role, field]) => [role, field.name]))).toEqual(ROLES)
  })

  it('make the tenant column', () => {
    expect(resource.tenant!.name).toBe('organizationId')
    expect(resourceOf(tables.bare, tenancy()).tenant).toBeUndefined()
  })

  it('leave only other columns writable for clients', () => {
    expect([...resource.writable.create].sort()).toEqual(['createdAt', 'slug'])
    expect([...resource.writable.update]).toEqual(['slug'])
  })

  it('use dates for times, and are nullable only for trash and audit columns', () => {
    const facts = new Map(describeTable(tables.all).columns.map(column => [column.name, column]))
    expect(['createdAt', 'updatedAt', 'deletedAt'].map(name => facts.get(name)!.kind)).toEqual(['date', 'date', 'date'])
    expect(
      [...facts.values()]
        .filter(({ nullable }) => nullable)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['createdBy', 'deletedAt', 'deletedBy', 'deletedReason', 'deletionId', 'updatedBy'])
  })

  it('are named in snake case in the database', () => {
    expect(describeTable(tables.all).columns.map(({ column }) => column.name)).toEqual([
      'id',
      'organization_id',
      'created_at',
      'updated_at',
      'created_by',
      'updated_by',
      'deleted_at',
      'deleted_by',
      'deletion_id',
      'deleted_reason',
      'slug',
    ])
  })

  it('have no role in a table that does not use them', () => {
    expect(resourceOf(tables.bare).roles).toEqual({})
  })

  it('do not count liveUnique as a unique constraint, neither for junctions nor for records', () => {
    expect(describeTable(tables.all).uniques).toEqual([])
    const [index] = (
      { sqlite: sqliteConfig, pg: pgConfig, mysql: mysqlConfig } as unknown as Record<
        string,
        (table: unknown) => { indexes: { config: { unique: boolean, name: string } }[] }
      >
    )[dialect]!(tables.all).indexes
    expect(index!.config).toMatchObject({ unique: true, name: 'posts_slug' })
  })
})
