/** The documented differences between engines: the order of NULLs, the collation of text, the case of letters beyond ASCII. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/runtime/shared/dialects'
import { ENGINE_CASES, isAvailable, type EngineCase } from './support/databases'
import { openFilled, type Filled } from './support/tables'
import { get, walk } from './support/walk'

const SPECS = {
  words: { columns: { id: 'integer!', word: 'text', level: 'integer', at: 'date' }, key: ['id'] },
  judged: { columns: { id: 'integer!', level: 'integer' }, key: ['id'] },
  judgedWords: { columns: { id: 'integer!', word: 'text', level: 'integer', at: 'date' }, key: ['id'] },
  parents: { columns: { id: 'integer!' }, key: ['id'] },
  children: { columns: { id: 'integer!', parentId: 'integer', level: 'integer' }, key: ['id'], references: [['parents', 'parentId']] },
  named: { columns: { id: 'text!' }, key: ['id'] },
} as const

const LEVELS = [{ id: 1, level: 2 }, { id: 2, level: null }, { id: 3, level: 1 }, { id: 4, level: null }]
const day = (date: number) => new Date(Date.UTC(2026, 0, date))
const WORDS = [
  { id: 1, word: 'b', level: 2, at: day(5) }, { id: 2, word: 'B', level: null, at: null }, { id: 3, word: 'a', level: 1, at: day(7) },
  { id: 4, word: 'Ä', level: 4, at: null }, { id: 5, word: 'ä', level: null, at: null }, { id: 6, word: 'Z', level: null, at: day(5) },
]

const ROWS = {
  words: WORDS,
  judged: LEVELS,
  judgedWords: WORDS,
  parents: [{ id: 1 }],
  children: LEVELS.map(row => ({ ...row, parentId: 1 })),
  named: [{ id: 'abc' }, { id: 'x' }],
}

const open = (engineCase: EngineCase) =>
  openFilled(engineCase, SPECS, ROWS, {
    registrations: tables =>
      Object.entries(tables).map(([name, schema]) => ({
        name,
        schema,
        authorization: { permissions: { read: true }, ...(name.startsWith('judged') && { objectLevel: () => true }) },
      })),
  })

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a documented difference', () => {
    let server: Filled
    beforeAll(async () => {
      server = await open(engineCase)
    })
    afterAll(() => server?.opened.close())

    const { nulls, letters } = engineCase.habits
    const low = nulls === 'low'
    const ids = async (path: string, query: object) =>
      (await get(server, path, { ...query })).body.data.map(({ id }: { id: unknown }) => id)

    /** By level, then by id in the same direction. */
    const RISING = low ? [2, 4, 3, 1] : [3, 1, 2, 4]
    const FALLING = RISING.toReversed()

    it(`sorts NULLs ${low ? 'below' : 'above'} every value`, async () => {
      expect([await ids('children', { sort: 'level' }), await ids('children', { sort: '-level' })]).toEqual([RISING, FALLING])
    })

    it.each([1, 2, 3])('pages by cursor from and to a NULL, %i rows at a time', async (limit) => {
      for (const path of ['children', 'judged'])
        expect([await walk(server, path, { sort: 'level', limit }), await walk(server, path, { sort: '-level', limit })]).toEqual([
          RISING,
          FALLING,
        ])
      // Two columns with NULLs, in two directions.
      expect(await walk(server, 'words', { sort: 'at,-level', limit })).toEqual(low ? [4, 5, 2, 1, 6, 3] : [6, 1, 3, 5, 2, 4])
    })

    it('sorts NULLs alike in included rows and in groups, whether SQL or an object rule selects the rows', async () => {
      const { body } = await get(server, 'parents', { include: { children: { sort: '-level' } } })
      expect(body.data[0].children.map(({ id }: { id: number }) => id)).toEqual(FALLING)
      const groups = low ? [null, 1, 2] : [1, 2, null]
      for (const path of ['children', 'judged']) {
        const levels = async (query: object) =>
          (await get(server, `${path}/aggregate`, { groupBy: 'level', ...query })).body.data.map(
            ({ group }: { group: { level: unknown } }) => group.level,
          )
        expect([path, await levels({}), await levels({ sort: '-level' })]).toEqual([path, groups, groups.toReversed()])
      }
    })

    it(`$like ignores the case of ${letters === 'ASCII' ? 'ASCII letters only' : 'all letters'}`, async () => {
      expect([await ids('words', { filter: { word: { $like: 'B' } } }), await ids('words', { filter: { word: { $like: 'z%' } } })]).toEqual(
        [[1, 2], [6]],
      )
      expect(await ids('words', { filter: { word: { $like: 'Ä' } } })).toEqual(letters === 'ASCII' ? [4] : [4, 5])
    })

    it('compares and sorts text by bytes, where that is the collation', async () => {
      expect(await walk(server, 'words', { sort: 'word', limit: 1 })).toEqual([2, 6, 3, 1, 4, 5])
      expect([
        await ids('words', { filter: { word: 'b' } }),
        await ids('words', { filter: { word: ['B', 'ä'] } }),
        await ids('words', { filter: { word: { $gte: 'b' } } }),
      ]).toEqual([[1], [2, 5], [1, 4, 5]])
    })
  })
})

/** Another order than that of bytes, as each engine spells it; all of them put `a` before `B`. */
const COLLATE: Readonly<Record<Dialect, string>> = {
  sqlite:
    'create table copy (id integer primary key, word text collate nocase, level integer, at integer); insert into copy select id, word, level, at from d_words; drop table d_words; alter table copy rename to d_words',
  pg: 'alter table d_words alter column word type text collate "und-x-icu"',
  mysql:
    'alter table d_words modify word varchar(100) collate utf8mb4_general_ci; alter table d_named modify id varchar(100) collate utf8mb4_general_ci',
}

/** What each says of the words, in order: tied words stand by their id. */
const SORTED: Readonly<Record<Dialect, { sorted: number[], equal: number[], like: number[], groups: number[] }>> = {
  sqlite: { sorted: [3, 1, 2, 6, 4, 5], equal: [1, 2], like: [3], groups: [1, 2, 1, 1, 1] },
  pg: { sorted: [3, 5, 4, 1, 2, 6], equal: [1], like: [3], groups: [1, 1, 1, 1, 1, 1] },
  mysql: { sorted: [3, 4, 5, 1, 2, 6], equal: [1, 2], like: [3, 4, 5], groups: [3, 2, 1] },
}

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a column with its own collation', () => {
    let server: Filled
    beforeAll(async () => {
      server = await open(engineCase)
      for (const table of ['d_words', 'd_judged_words']) await server.opened.exec(COLLATE[engineCase.dialect].replaceAll('d_words', table))
    })
    afterAll(() => server?.opened.close())

    const { sorted, equal, like, groups } = SORTED[engineCase.dialect]

    it.each([1, 2, 4])('is sorted by it, and paged by cursor, %i rows at a time', async (limit) => {
      expect(await walk(server, 'words', { sort: 'word', limit })).toEqual(sorted)
    })

    it.each([['b', equal], [{ $like: 'a' }, like]])('is compared by it: %j', async (word, ids) => {
      expect((await get(server, 'words', { filter: { word } })).body.data.map(({ id }: { id: number }) => id)).toEqual(ids)
    })

    it('is grouped by it in SQL, and by bytes where an object rule selects the rows', async () => {
      const { body } = await get(server, 'words/aggregate', { groupBy: 'word', aggregate: 'count' })
      expect(body.data.map(({ count }: { count: number }) => count)).toEqual(groups)
      const judged = await get(server, 'judgedWords/aggregate', { groupBy: 'word' })
      expect(judged.body.data.map(({ group }: { group: { word: string } }) => group.word)).toEqual(['B', 'Z', 'a', 'b', 'Ä', 'ä'])
    })

    it('is compared by bytes as a key in a path', async () => {
      const statuses = await Promise.all(
        ['abc', 'ABC', 'abc ', 'äbc'].map(async id => (await get(server, `named/${encodeURIComponent(id)}`)).status),
      )
      expect(statuses).toEqual([200, 404, 404, 404])
    })
  })
})
