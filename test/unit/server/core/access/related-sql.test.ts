/** The SQL of relation filters in each dialect, compared with texts written by hand. */
import type { SQL, Table } from 'drizzle-orm'
import { foreignKey as mysqlForeignKey, int, mysqlTable, primaryKey as mysqlPrimaryKey, varchar } from 'drizzle-orm/mysql-core'
import { foreignKey as pgForeignKey, integer as pgInteger, pgTable, primaryKey as pgPrimaryKey, text as pgText } from 'drizzle-orm/pg-core'
import { foreignKey, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import type { ScopedRelationFilter } from '../../../../../src/runtime/server/core/access/plan'
import { relatedClauses, relatedPlans } from '../../../../../src/runtime/server/core/access/related'
import { isNotNull, isNull, whereClause } from '../../../../../src/runtime/server/core/sql/conditions'
import { DIALECTS as ADAPTERS } from '../../../../../src/runtime/server/engines/dialects/index'
import type { Engine } from '../../../../../src/runtime/server/engines/engine'
import { DIALECTS } from '../../../../support/dialects'
import { resourcesOf } from '../../../../support/tables'

/** Teams have a numeric key, codes a key of text, and places a key of two columns. Tags are linked to teams. */
const TABLES = {
  sqlite: (() => {
    const teams = sqliteTable('teams', { id: integer('id').primaryKey(), name: text('name') })
    const codes = sqliteTable('codes', { code: text('code').primaryKey() })
    const places = sqliteTable('places', { land: integer('land'), town: integer('town') }, t => [primaryKey({ columns: [t.land, t.town] })])
    const posts = sqliteTable(
      'posts',
      {
        id: integer('id').primaryKey(),
        teamId: integer('team_id').references(() => teams.id),
        codeId: text('code_id').references(() => codes.code),
        land: integer('land'),
        town: integer('town'),
      },
      t => [foreignKey({ columns: [t.land, t.town], foreignColumns: [places.land, places.town], name: 'place' })],
    )
    const tags = sqliteTable('tags', { id: integer('id').primaryKey() })
    const links = sqliteTable(
      'links',
      { teamId: integer('team_id').references(() => teams.id), tagId: integer('tag_id').references(() => tags.id) },
      t => [primaryKey({ columns: [t.teamId, t.tagId] })],
    )
    return { teams, codes, places, posts, tags, links }
  })(),
  pg: (() => {
    const teams = pgTable('teams', { id: pgInteger('id').primaryKey(), name: pgText('name') })
    const codes = pgTable('codes', { code: pgText('code').primaryKey() })
    const places = pgTable('places', { land: pgInteger('land'), town: pgInteger('town') }, t => [
      pgPrimaryKey({ columns: [t.land, t.town] }),
    ])
    const posts = pgTable(
      'posts',
      {
        id: pgInteger('id').primaryKey(),
        teamId: pgInteger('team_id').references(() => teams.id),
        codeId: pgText('code_id').references(() => codes.code),
        land: pgInteger('land'),
        town: pgInteger('town'),
      },
      t => [pgForeignKey({ columns: [t.land, t.town], foreignColumns: [places.land, places.town], name: 'place' })],
    )
    const tags = pgTable('tags', { id: pgInteger('id').primaryKey() })
    const links = pgTable(
      'links',
      { teamId: pgInteger('team_id').references(() => teams.id), tagId: pgInteger('tag_id').references(() => tags.id) },
      t => [pgPrimaryKey({ columns: [t.teamId, t.tagId] })],
    )
    return { teams, codes, places, posts, tags, links }
  })(),
  mysql: (() => {
    const teams = mysqlTable('teams', { id: int('id').primaryKey(), name: varchar('name', { length: 50 }) })
    const codes = mysqlTable('codes', { code: varchar('code', { length: 50 }).primaryKey() })
    const places = mysqlTable('places', { land: int('land'), town: int('town') }, t => [mysqlPrimaryKey({ columns: [t.land, t.town] })])
    const posts = mysqlTable(
      'posts',
      {
        id: int('id').primaryKey(),
        teamId: int('team_id').references(() => teams.id),
        codeId: varchar('code_id', { length: 50 }).references(() => codes.code),
        land: int('land'),
        town: int('town'),
      },
      t => [mysqlForeignKey({ columns: [t.land, t.town], foreignColumns: [places.land, places.town], name: 'place' })],
    )
    const tags = mysqlTable('tags', { id: int('id').primaryKey() })
    const links = mysqlTable(
      'links',
      { teamId: int('team_id').references(() => teams.id), tagId: int('tag_id').references(() => tags.id) },
      t => [mysqlPrimaryKey({ columns: [t.teamId, t.tagId] })],
    )
    return { teams, codes, places, posts, tags, links }
  })(),
}

type Name = keyof typeof TABLES
type Entry = readonly [resource: string, relation: string, match: 'some' | 'none']

function open(name: Name) {
  const { links, ...tables } = TABLES[name]
  const resources = resourcesOf(tables as unknown as Record<string, Table>, { modules: [{ links }] })
  const render = (sql: SQL) => {
    const { sql: text, params } = DIALECTS[name].sqlToQuery(sql)
    return { text, values: params }
  }
  /** Rows of the relation whose first column is not NULL, and whose row rule says that it is NULL. */
  const filterOf = ([resource, relationName, match]: Entry, related?: object): ScopedRelationFilter => {
    const relation = resources.get(resource)!.relations.get(relationName)!
    const [field] = relation.target.fields.values()
    const through
      = relation.kind === 'manyToMany'
        ? { resource: relation.junction.resource, scope: [isNotNull([...relation.junction.resource.fields.values()][0]!)] }
        : undefined
    return {
      relation,
      match,
      plan: { resource: relation.target, where: [isNotNull(field!)], scope: [isNull(field!)], ...related },
      ...(through && { through }),
    } as unknown as ScopedRelationFilter
  }
  const engine = { name, dialect: name, adapter: ADAPTERS[name], render } as unknown as Engine
  return { filterOf, textOf: (...filters: ScopedRelationFilter[]) => render(whereClause(relatedClauses(engine, filters)).getSQL()).text }
}

const KEY = 'cast(convert(`posts`.`code_id` using utf8mb4) as binary)'
const CODE = 'cast(convert(`codes`.`code` using utf8mb4) as binary)'
const EXPECTED: readonly [what: string, entry: Entry, expected: Readonly<Record<Name, string>>][] = [
  [
    'a numeric key',
    ['posts', 'team', 'some'],
    {
      sqlite: '"posts"."team_id" in (select "teams"."id" from "teams" where "teams"."id" is not null and "teams"."id" is null)',
      mysql: '`posts`.`team_id` in (select `teams`.`id` from `teams` where `teams`.`id` is not null and `teams`.`id` is null)',
      pg: 'exists (select 1 from (select "teams"."id" as "auto_api_key_0" from "teams" where "teams"."id" is not null and "teams"."id" is null) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "posts"."team_id")',
    },
  ],
  [
    'no numeric key',
    ['posts', 'team', 'none'],
    {
      sqlite:
        '("posts"."team_id" in (select "teams"."id" from "teams" where "teams"."id" is not null and "teams"."id" is null)) is not true',
      mysql:
        '(`posts`.`team_id` in (select `teams`.`id` from `teams` where `teams`.`id` is not null and `teams`.`id` is null)) is not true',
      pg: 'not exists (select 1 from (select "teams"."id" as "auto_api_key_0" from "teams" where "teams"."id" is not null and "teams"."id" is null) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "posts"."team_id")',
    },
  ],
  [
    'a key of text, which is compared by bytes',
    ['posts', 'code', 'some'],
    {
      sqlite:
        '"posts"."code_id" collate binary in (select "codes"."code" collate binary from "codes" where "codes"."code" is not null and "codes"."code" is null)',
      mysql: `(\`posts\`.\`code_id\`, ${KEY}) in (select \`codes\`.\`code\`, ${CODE} from \`codes\` where \`codes\`.\`code\` is not null and \`codes\`.\`code\` is null)`,
      pg: 'exists (select 1 from (select "codes"."code" as "auto_api_key_0" from "codes" where "codes"."code" is not null and "codes"."code" is null) as "auto_api_related" where ("auto_api_related"."auto_api_key_0" = "posts"."code_id" and case when cast("auto_api_related"."auto_api_key_0" as text) collate "C" = cast("posts"."code_id" as text) collate "C" then true else false end))',
    },
  ],
  [
    'a key of two columns',
    ['posts', 'townRecord', 'some'],
    {
      sqlite:
        '("posts"."land", "posts"."town") in (select "places"."land", "places"."town" from "places" where "places"."land" is not null and "places"."land" is null)',
      mysql:
        '(`posts`.`land`, `posts`.`town`) in (select `places`.`land`, `places`.`town` from `places` where `places`.`land` is not null and `places`.`land` is null)',
      pg: 'exists (select 1 from (select "places"."land" as "auto_api_key_0", "places"."town" as "auto_api_key_1" from "places" where "places"."land" is not null and "places"."land" is null) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "posts"."land" and "auto_api_related"."auto_api_key_1" = "posts"."town")',
    },
  ],
  [
    'linked records',
    ['teams', 'tags', 'none'],
    {
      sqlite:
        '("teams"."id" in (select "links"."team_id" from "links" where "links"."team_id" is not null and "links"."tag_id" in (select "tags"."id" from "tags" where "tags"."id" is not null and "tags"."id" is null))) is not true',
      mysql:
        '(`teams`.`id` in (select `links`.`team_id` from `links` where `links`.`team_id` is not null and `links`.`tag_id` in (select `tags`.`id` from `tags` where `tags`.`id` is not null and `tags`.`id` is null))) is not true',
      pg: 'not exists (select 1 from (select "links"."team_id" as "auto_api_key_0" from "links" where "links"."team_id" is not null and exists (select 1 from (select "tags"."id" as "auto_api_key_0" from "tags" where "tags"."id" is not null and "tags"."id" is null) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "links"."tag_id")) as "auto_api_related" where "auto_api_related"."auto_api_key_0" = "teams"."id")',
    },
  ],
]

describe.each(['sqlite', 'pg', 'mysql'] as const)('%s', (name) => {
  it.each(EXPECTED)('%s', (_what, entry, expected) => {
    const { filterOf, textOf } = open(name)
    expect(textOf(filterOf(entry)).replace(/^ where /, '')).toBe(expected[name])
  })

  it('branches', () => {
    const { filterOf, textOf } = open(name)
    const team = filterOf(['posts', 'team', 'some'])
    const place = filterOf(['posts', 'townRecord', 'some'])
    const [one, other] = [textOf(team), textOf(place)].map(text => text.replace(/^ where /, ''))
    expect(
      textOf({
        branches: [
          { where: [], relationFilters: [team] },
          { where: [], relationFilters: [place] },
        ],
      }),
    ).toBe(` where ((${one}) or (${other}))`)
  })
})

describe('the plans of a filter', () => {
  const { filterOf } = open('sqlite')
  const namesOf = (...filters: ScopedRelationFilter[]) => relatedPlans(filters).map(({ resource }) => resource.name)

  it('are those of records, of links, of nested filters and of branches', () => {
    const team = filterOf(['posts', 'team', 'some'], { related: { filters: [filterOf(['teams', 'tags', 'some'])], clauses: [] } })
    expect(namesOf(team)).toEqual(['teams', 'tags', 'links'])
    expect(
      namesOf({
        branches: [
          { where: [], relationFilters: [team] },
          { where: [], relationFilters: [filterOf(['posts', 'townRecord', 'none'])] },
        ],
      }),
    ).toEqual(['teams', 'tags', 'links', 'places'])
  })

  it('are none without filters', () => {
    expect([relatedPlans(), relatedPlans([])]).toEqual([[], []])
  })
})
