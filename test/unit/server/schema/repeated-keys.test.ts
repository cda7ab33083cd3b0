/** A foreign key that a table declares twice, as after `drizzle-kit pull` (`.references()` and `foreignKey()`), is one key. */
import { foreignKey as mysqlForeignKey, int, mysqlTable, primaryKey as mysqlPrimaryKey } from 'drizzle-orm/mysql-core'
import { foreignKey as pgForeignKey, integer as pgInteger, pgTable, primaryKey as pgPrimaryKey } from 'drizzle-orm/pg-core'
import { foreignKey, integer, primaryKey, sqliteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { createGraph } from '../../../../src/runtime/server/schema/graph'
import { describeForeignKeys } from '../../../../src/runtime/server/schema/drizzle/foreign-keys'
import { resourcesOf } from '../../../support/tables'

/** Every foreign key of these tables is declared at least twice. */
function tablesOf(table: typeof sqliteTable, number: typeof integer, foreign: typeof foreignKey, primary: typeof primaryKey) {
  const owners = table('owners', { id: number().primaryKey(), region: number().notNull() })
  const pets = table('pets', {
    id: number().primaryKey(),
    ownerId: number().references(() => owners.id, { onUpdate: 'cascade' }),
    vetRegion: number(),
    vetId: number(),
  }, t => [
    foreign({ columns: [t.ownerId], foreignColumns: [owners.id] }).onDelete('cascade'),
    foreign({ columns: [t.vetRegion, t.vetId], foreignColumns: [owners.region, owners.id] }).onDelete('set null'),
    // The same pairs in another order.
    foreign({ columns: [t.vetId, t.vetRegion], foreignColumns: [owners.id, owners.region] }).onDelete('restrict'),
  ])
  const visits = table('visits', {
    ownerId: number().notNull().references(() => owners.id),
    petId: number().notNull().references(() => pets.id),
  }, t => [
    primary({ columns: [t.ownerId, t.petId] }),
    foreign({ columns: [t.petId], foreignColumns: [pets.id] }),
    foreign({ columns: [t.ownerId], foreignColumns: [owners.id] }),
  ])
  return { owners, pets, visits }
}

describe.each([
  ['sqlite-core', tablesOf(sqliteTable, integer, foreignKey, primaryKey)],
  ['pg-core', tablesOf(pgTable as never, pgInteger as never, pgForeignKey as never, pgPrimaryKey as never)],
  ['mysql-core', tablesOf(mysqlTable as never, int as never, mysqlForeignKey as never, mysqlPrimaryKey as never)],
])('a foreign key of %s that a table declares twice', (_, { owners, pets, visits }) => {
  it('is one key, and the strictest of its actions applies', () => {
    expect(describeForeignKeys(pets)).toMatchObject([
      { columns: ['ownerId'], foreignTable: owners, foreignColumns: ['id'], onDelete: 'cascade', onUpdate: 'cascade' },
      {
        columns: ['vetRegion', 'vetId'],
        foreignTable: owners,
        foreignColumns: ['region', 'id'],
        onDelete: 'restrict',
        onUpdate: 'no action',
      },
    ])
  })

  it('makes one relation on each side', () => {
    const resources = resourcesOf({ owners, pets })
    expect([...resources.get('pets')!.relations.keys()]).toEqual(['owner', 'vet'])
    expect([...resources.get('owners')!.relations.keys()]).toEqual(['petsByOwner', 'petsByVet'])
  })

  it('is one side of a junction table', () => {
    const resources = resourcesOf({ owners, pets }, { modules: [{ visits }] })
    expect(resources.get('owners')!.relations.get('pets')).toMatchObject({ kind: 'manyToMany', junction: { name: 'visits' } })
  })

  it('is followed once in the graph of foreign keys', () => {
    const graph = createGraph(resourcesOf({ owners, pets }), [{ visits }])
    expect(graph.get(owners)!.children.map(({ table, columns }) => [table === pets ? 'pets' : 'visits', ...columns])).toEqual([
      ['pets', 'ownerId'], ['pets', 'vetRegion', 'vetId'], ['visits', 'ownerId'],
    ])
  })
})
