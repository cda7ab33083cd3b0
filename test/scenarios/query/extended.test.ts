/** The extended operators of a filter: only with the option, with errors that name the place, and within the limits of D1. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { drizzle as overD1 } from 'drizzle-orm/d1'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openD1, type LocalD1 } from '../../support/d1'
import { createServer, type TestServer } from '../../support/server'

const notes = sqliteTable('notes', {
  id: integer().primaryKey(), title: text(), views: integer(), parentId: integer('parent_id').references((): never => notes.id as never),
})
const SCHEMA = 'create table notes (id integer primary key, title text, views integer, parent_id integer references notes(id))'
const ROWS = `insert into notes values (1, 'Apple_1', 5, null), (2, 'apple%2', 10, 1), (3, 'Bread', null, 1), (4, null, 20, 3)`

const registrations = [{ name: 'notes', schema: notes, authorization: { permissions: { read: true } } }]
const extended = { filters: { extended: true } }

let client: Database.Database
let basic: TestServer
let server: TestServer
let d1: LocalD1
let onD1: TestServer

beforeAll(async () => {
  client = new Database(':memory:')
  client.exec(`${SCHEMA}; ${ROWS}`)
  const db = drizzle({ client })
  basic = await createServer({ db, registrations })
  server = await createServer({ db, registrations, config: extended })
  d1 = await openD1()
  await d1.exec(`${SCHEMA}; ${ROWS}`)
  onD1 = await createServer({ db: overD1(d1.d1 as never), engine: 'd1', registrations, config: extended })
})

afterAll(async () => {
  client.close()
  await d1.close()
})

const ask = async (on: TestServer, filter: unknown) => {
  const query = typeof filter === 'string' ? filter : `filter=${encodeURIComponent(JSON.stringify(filter))}`
  return on.request('GET', `/api/notes?fields=id&sort=id&${query}`)
}
const idsOf = async (filter: unknown, on = server) => {
  const { status, body } = await ask(on, filter)
  return status === 200 ? body.data.map(({ id }: { id: number }) => id) : [status, body.message]
}

/** `depth` combinations around each other, each with `width` branches. The deepest one comes first, where a chain is highest. */
function nested(depth: number, width: number, names = ['$or', '$not', '$and']): object {
  if (depth === 0) return { views: { $gt: 3 } }
  const [name, ...rest] = names as [string, ...string[]]
  const inner = nested(depth - 1, width, [...rest, name])
  return { [name]: name === '$not' ? inner : [inner, ...Array.from({ length: width - 1 }, (_, index) => ({ id: index + 1 }))] }
}

describe('without the option', () => {
  it.each([
    [{ $and: [{ id: 1 }] }, '$and'],
    [{ $not: { id: 1 } }, '$not'],
    [{ $or: [{ $or: [{ id: 1 }] }] }, 'filter.$or[0].$or'],
    [{ title: { $not: { $like: 'a' } } }, 'filter.title.$not'],
    [{ parent: { $or: [{ id: 1 }] } }, 'filter.parent.$or'],
    [{ views: { $between: [1, 2] } }, 'filter.views.$between'],
    [{ title: { $notLike: 'a' } }, 'filter.title.$notLike'],
    [{ title: { $startsWith: 'a' } }, 'filter.title.$startsWith'],
    [{ title: { $endsWith: 'a' } }, 'filter.title.$endsWith'],
    [{ title: { $contains: 'a' } }, 'filter.title.$contains'],
    [{ title: { $eqi: 'a' } }, 'filter.title.$eqi'],
  ])('%j returns 400 and names the operator', async (filter, place) => {
    const { status, body } = await ask(basic, filter)
    expect([status, body.data.code, body.message]).toEqual([400, 'INVALID_OPERATOR', expect.stringContaining(`\`${place}\``)])
  })

  it('lists only the operators of the option in an error', async () => {
    const filter = { title: { $lik: 'a' } }
    expect((await ask(basic, filter)).body.message).toMatch(/Did you mean `\$like`\? The operators are [^.]*\$null\.$/)
    expect((await ask(server, filter)).body.message).toMatch(/\$eqi\.$/)
  })
})

describe('with the option', () => {
  it.each<[filter: unknown, ids: readonly number[]]>([
    [{ $and: [{ id: [1, 2] }, { id: [2, 3] }] }, [2]],
    [{ $not: { views: { $gt: 7 } } }, [1, 3]],
    [{ $not: { id: [1, 2], views: 5 } }, [2, 3, 4]],
    [{ $or: [{ $and: [{ id: 1 }, { views: 5 }] }, { $not: { title: { $null: false } } }] }, [1, 4]],
    [{ title: { $not: { $like: 'a%' } } }, [3, 4]],
    [{ title: { $or: [{ $eqi: 'bread' }, { $null: true }] } }, [3, 4]],
    [{ title: { $and: [{ $like: 'a%' }, { $like: '%2' }] } }, [2]],
    [{ title: { $not: { $not: { $like: 'a%' } } } }, [1, 2]],
    [{ views: { $between: [5, 10] } }, [1, 2]],
    [{ views: { $between: [10, 5] } }, []],
    [{ title: { $notLike: 'a%' } }, [3]],
    [{ title: { $startsWith: 'APPLE_' } }, [1]],
    [{ title: { $startsWith: 'apple%' } }, [2]],
    [{ title: { $endsWith: '%2' } }, [2]],
    [{ title: { $contains: '_' } }, [1]],
    [{ title: { $contains: '' } }, [1, 2, 3]],
    [{ title: { $eqi: 'APPLE%2' } }, [2]],
    [{ title: { $eqi: 'apple' } }, []],
    [{ parent: { $or: [{ title: { $startsWith: 'b' } }, { views: 5 }] } }, [2, 3, 4]],
    [{ parent: { $not: { views: 5 } } }, [4]],
    [{ $not: { parent: { views: 5 } } }, [1, 4]],
    [{ parent: { $not: { $null: true } } }, [2, 3, 4]],
    ['filter[views][$between]=5,10', [1, 2]],
    ['filter[views][$between][]=5&filter[views][$between][]=10', [1, 2]],
    ['filter[$not][views][$gt]=7', [1, 3]],
    ['filter[title][$not][$like]=a%25', [3, 4]],
    ['filter[$and][0][id]=1,2&filter[$and][0][id]=3&filter[$and][1][views]=5', [1]],
    ['filter[parent][$or][0][views]=5&filter[parent][$or][1][id]=3', [2, 3, 4]],
    ['filter[title][$or][0][$eqi]=bread&filter[title][$or][1][$null]=true', [3, 4]],
  ])('%j', async (filter, ids) => {
    expect([await idsOf(filter), await idsOf(filter, onD1)]).toEqual([ids, ids])
  })

  it.each<[filter: unknown, code: string, place: string]>([
    [{ $and: [{ id: 1 }, { id: 2 }, { title: { $foo: 1 } }] }, 'INVALID_OPERATOR', '`filter.$and[2].title.$foo` is not an operator'],
    [{ $or: [{ $not: { title: { $not: { $foo: 1 } } } }] }, 'INVALID_OPERATOR', '`filter.$or[0].$not.title.$not.$foo`'],
    [{ $and: [{ views: { $like: 'a' } }] }, 'INVALID_OPERATOR', '`filter.$and[0].views.$like` does not fit the field, which accepts $eq'],
    [{ $not: { titel: 'x' } }, 'UNKNOWN_FIELD', '`filter.$not` names an unknown field: "titel". Did you mean `title`?'],
    [{ parent: { $or: [{ views: 'many' }] } }, 'INVALID_VALUE', '`filter.parent.$or[0]`: "views" takes'],
    [{ $and: [] }, 'INVALID_QUERY', '`filter`: `$and` is a list'],
    [{ $and: {} }, 'INVALID_QUERY', '`filter`: `$and` is a list'],
    [{ $and: [1] }, 'INVALID_QUERY', '`filter`: every branch of `$and` is an object'],
    [{ $not: {} }, 'INVALID_QUERY', '`filter`: `$not` is an object'],
    [{ $not: [{ id: 1 }] }, 'INVALID_QUERY', '`filter`: `$not` is an object'],
    [{ title: { $not: 'x' } }, 'INVALID_QUERY', '`filter.title`: `$not` is an object'],
    [{ title: { $not: { $like: 'a' }, text: 1 } }, 'INVALID_OPERATOR', '`filter.title.text`'],
    [{ title: { $not: { text: 1 } } }, 'INVALID_OPERATOR', '`filter.title.$not`'],
    [
      { notes: { $or: [{ title: 'a' }, { $count: 1 }] } }, 'INVALID_OPERATOR',
      '`filter.notes.$or[1].$count` stands alone in the object of a relation. Combine whole relations, as in `{"$or":[{"comments":{"$count":1}}',
    ],
    [{ views: { $between: [1] } }, 'INVALID_VALUE', 'takes a list of two values'],
    [{ views: { $between: [1, 2, 3] } }, 'INVALID_VALUE', 'takes a list of two values'],
    [{ views: { $between: 1 } }, 'INVALID_VALUE', 'takes a list'],
    [{ views: { $between: [1, null] } }, 'INVALID_VALUE', '"views" takes'],
    [{ title: { $contains: 1 } }, 'INVALID_VALUE', '$contains of "title" takes text'],
    [{ title: { $eqi: 'a\0' } }, 'INVALID_VALUE', 'NUL'],
    [{ views: { $contains: 'a' } }, 'INVALID_OPERATOR', '`filter.views.$contains`'],
    [nested(9, 2), 'LIMIT_EXCEEDED', '$and, $or, $not nest at most 8 deep'],
    [{ title: { $contains: 'x'.repeat(257) } }, 'LIMIT_EXCEEDED', '256 characters'],
    [{ $or: Array.from({ length: 9 }, () => ({ title: { $eqi: 'a' } })) }, 'LIMIT_EXCEEDED', '8 $like conditions'],
    [{ $and: Array.from({ length: 51 }, () => ({ views: { $between: [1, 2] } })) }, 'LIMIT_EXCEEDED', '100 conditions'],
    [{ $or: Array.from({ length: 21 }, () => ({ id: 1 })) }, 'LIMIT_EXCEEDED', '20 branches'],
    ['filter[$and][0][title][$foo]=1', 'INVALID_OPERATOR', '`filter.$and[0].title.$foo`'],
  ])('%j is refused', async (filter, code, message) => {
    const { status, body } = await ask(server, filter)
    expect([status, body.data.code, body.data.parameter, body.message]).toEqual([400, code, 'filter', expect.stringContaining(message)])
  })

  it('runs the deepest and widest filter on D1, which limits the depth of expressions', async () => {
    for (const filter of [nested(8, 18), nested(8, 13, ['$or']), { parent: nested(8, 13, ['$or']) }]) {
      expect((await ask(onD1, filter)).status).toBe(200)
      expect(await idsOf(filter, onD1)).toEqual(await idsOf(filter))
    }
  })

  it('accepts fifty ranges', async () => {
    const ranges = { $and: Array.from({ length: 50 }, () => ({ views: { $between: [5, 10] } })) }
    expect([await idsOf(ranges), await idsOf(ranges, onD1)]).toEqual([[1, 2], [1, 2]])
  })
})
