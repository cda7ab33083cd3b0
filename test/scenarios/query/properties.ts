/** What must hold of every answer, whatever is asked: it is the oracle's. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { callerOf, LIMITS, type Newsdata, type Served } from '../../support/newsdata/server'
import { MODEL, type Row, type Viewer } from '../../support/oracle/model'
import { aggregateRows, groups } from '../../support/oracle/groups'
import { listRows, orderOf, toRecord, type World } from '../../support/oracle/rows'
import type { ListQuery } from '../../support/oracle/query'
import type { Caller } from '../../support/server'
import type { Coverage } from './coverage'
import { aggregates, groupQueries, listQueries, resources, spellings, viewers, type Spelling } from './generate'
import { exportOf, toCells } from '../../plugins/data-export/exported'
import { spellGroups, spellList, type Place } from './spell'

/** A part of all cases, and what is asserted of each. */
export interface Property<On = Served> {
  readonly share: number
  readonly create: (server: On, coverage: Coverage) => fc.IAsyncProperty<unknown>
}

const worldOf = ({ data, habits }: Served, viewer: Viewer): World => ({ data, habits, viewer, maxLimit: LIMITS.maxLimit })

async function ask(server: Served, path: string, params: URLSearchParams, viewer: Viewer) {
  const { status, body } = await server.request('GET', `/api/${path}?${params}`, { caller: callerOf(viewer) })
  // D1 accepts a depth of 100. Few of the drawn queries are deeper.
  if (status === 400 && /nested too deeply/.test(body.message)) fc.pre(false)
  if (status !== 200) throw new Error(`GET /api/${path}?${decodeURIComponent(String(params))}: ${status} ${body.message}`)
  return body
}

function asked(server: Served, depth: number) {
  return fc.tuple(resources, viewers, spellings).chain(([resource, viewer, spelling]) =>
    fc.record({
      resource: fc.constant(resource), viewer: fc.constant(viewer), spelling: fc.constant(spelling),
      query: listQueries({ data: server.data, viewer }, resource, spelling.filter, depth),
      aggregates: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: aggregates(resource, viewer) }),
    }))
}

function forms(coverage: Coverage, query: ListQuery, spelling: Spelling): void {
  if (query.filter.and.length + query.filter.or.length > 0) coverage.count('form', `filter ${spelling.filter}`)
  if (query.include.length > 0) coverage.count('form', `include ${spelling.include}`)
}

/** A page by number: its rows, what hangs on them, the total, the aggregates; and its first row as a single record. */
const page: Property = {
  share: 0.45,
  create: (server, coverage) =>
    fc.asyncProperty(
      asked(server, 3),
      fc.constantFrom(1, 1, 1, 2, 3),
      fc.boolean(),
      async ({ resource, viewer, spelling, query, aggregates }, page, count) => {
        const world = worldOf(server, viewer)
        const rows = listRows(world, resource, query)
        const expected = rows
          .slice((page - 1) * query.limit, page * query.limit)
          .map(row => toRecord(world, resource, row, query))
        coverage.list(resource, query)
        forms(coverage, query, spelling)
        coverage.answer(expected.length)
        const params = spellList(resource, query, { page, count }, aggregates, spelling)
        if (expected.length > 0)
          expect(await ask(server, `${resource}/${addressOf(resource, rows[(page - 1) * query.limit]!)}`, params, viewer)).toEqual(
            expected[0],
          )
        const body = await ask(server, resource, params, viewer)
        expect(body).toEqual({
          data: expected,
          meta: {
            page,
            limit: query.limit,
            ...(count ? { total: rows.length } : { hasMore: rows.length > page * query.limit }),
            ...(aggregates.length > 0 && { aggregates: aggregateRows(rows, resource, aggregates) }),
          },
        })
      },
    ),
}

const addressOf = (resource: string, row: Row) => MODEL[resource]!.key.map(field => encodeURIComponent(String(row[field]))).join(',')

/** All pages one after another are the whole list, in both modes. */
const walk: Property = {
  share: 0.2,
  create: (server, coverage) =>
    fc.asyncProperty(asked(server, 1), fc.boolean(), async ({ resource, viewer, spelling, query, aggregates }, byCursor) => {
      const world = worldOf(server, viewer)
      const rows = listRows(world, resource, query)
      const expected = rows.map(row => toRecord(world, resource, row, query))
      const order = orderOf(resource, query.sort, query.cursorFields).map(({ field }) => field).filter(field => !field.includes('.'))
      const totals = aggregates.length > 0 && { aggregates: aggregateRows(rows, resource, aggregates) }
      coverage.list(resource, query)
      const seen: Row[] = []
      let cursor: string | null = ''
      for (let page = 1; page === 1 || (byCursor ? cursor !== null : seen.length < rows.length); page++) {
        const place: Place = byCursor ? { cursor: cursor! } : { page, count: true }
        const { data, meta } = await ask(server, resource, spellList(resource, query, place, aggregates, spelling), viewer)
        seen.push(...data)
        coverage.answer(data.length)
        const hasMore = seen.length < rows.length
        expect(meta).toEqual(
          byCursor
            ? { limit: query.limit, hasMore, nextCursor: hasMore ? expect.any(String) : null, ...totals }
            : { page, limit: query.limit, total: rows.length, ...totals },
        )
        if (byCursor && hasMore) coverage.cursor(order, MODEL[resource]!.key, rows[seen.length - 1]!, rows[seen.length]!)
        if (page > expected.length + 1) throw new Error('The pages have no end.')
        cursor = meta.nextCursor
      }
      expect(seen).toEqual(expected)
    }),
}

const NEW_KEYS = {
  articles: (index: number) => ({ id: 1000 + index }),
  entries: (index: number) => ({ id: 5_000_000n + BigInt(index), parentId: null }),
  tags: (index: number) => ({ id: 1000 + index }),
} as const

/** While rows come and go between the pages, every untouched row is met exactly once, in its order. */
const churn: Property<Newsdata> = {
  share: 0.1,
  create: (server, coverage) => {
    const changes = fc.array(fc.record({ insert: fc.boolean(), from: fc.nat(200) }), { minLength: 1, maxLength: 12 })
    const cases = fc
      .tuple(fc.constantFrom('articles', 'entries', 'tags'), viewers, spellings)
      .chain(([resource, viewer, spelling]) =>
        fc.record({
          resource: fc.constant(resource as keyof typeof NEW_KEYS),
          viewer: fc.constant(viewer),
          spelling: fc.constant(spelling),
          query: listQueries({ data: server.data, viewer }, resource, spelling.filter, 0),
          limit: fc.integer({ min: 1, max: 6 }),
          changes,
        }),
      )
    return fc.asyncProperty(cases, async ({ resource, viewer, spelling, query: drawn, limit, changes }) => {
      // A change of a related row moves rows that are not touched themselves.
      const sort = drawn.sort.filter(({ field }) => !field.includes('.'))
      const query: ListQuery = { ...drawn, sort, limit, fields: ['id'] }
      const all = listRows(worldOf(server, viewer), resource, query)
      const gone = new Set<unknown>()
      const seen: string[] = []
      const table = `d_${resource}`
      server.client.exec('begin')
      try {
        let cursor: string | null = ''
        for (let page = 0; cursor !== null && page < 200; page++) {
          const body = await ask(server, resource, spellList(resource, query, { cursor }, [], spelling), viewer)
          seen.push(...body.data.map((row: { id: unknown }) => String(row.id)))
          cursor = body.meta.nextCursor
          const change = changes[page]
          if (!change) continue
          const row = server.data[resource]![change.from % server.data[resource]!.length]!
          coverage.count('cursor', change.insert ? 'inserted' : 'deleted')
          if (change.insert) server.insert(resource, { ...row, ...NEW_KEYS[resource](page) })
          else {
            server.client.prepare(`delete from ${table} where cast(id as text) = ?`).run(String(row.id))
            gone.add(row.id)
          }
        }
      }
      finally {
        server.client.exec('rollback')
      }
      const untouched = all.filter(row => !gone.has(row.id)).map(row => String(row.id))
      expect(seen.filter(id => untouched.includes(id))).toEqual(untouched)
      expect(new Set(seen).size).toBe(seen.length)
    })
  },
}

/** Aggregates and groups, on the list's route and on their own. */
const grouped: Property = {
  share: 0.25,
  create: (server, coverage) => {
    const cases = fc
      .tuple(resources, viewers, spellings)
      .chain(([resource, viewer, spelling]) =>
        fc.record({
          resource: fc.constant(resource),
          viewer: fc.constant(viewer),
          spelling: fc.constant(spelling),
          query: groupQueries({ data: server.data, viewer }, resource, spelling.filter),
        }),
      )
    return fc.asyncProperty(cases, async ({ resource, viewer, spelling, query }) => {
      const { data, total } = groups(worldOf(server, viewer), resource, query)
      coverage.groups(resource, query)
      coverage.answer(data.length)
      const path = spelling.repeat && query.groupBy.length > 0 ? resource : `${resource}/aggregate`
      const body = await ask(server, path, spellGroups(resource, query, spelling), viewer)
      expect(body).toEqual({ data, meta: { total } })
    })
  },
}

/** Every row meets a filter or its `$not`, and no row meets both. */
const divided: Property = {
  share: 0.2,
  create: (server, coverage) => {
    const cases = fc.tuple(resources, viewers, spellings).chain(([resource, viewer, spelling]) => fc.record({
      resource: fc.constant(resource), viewer: fc.constant(viewer), spelling: fc.constant(spelling),
      query: listQueries({ data: server.data, viewer }, resource, spelling.filter, 1)
        .filter(({ filter: { and, or } }) => and.length > 0 && or.length === 0),
    }))
    return fc.asyncProperty(cases, async ({ resource, viewer, spelling, query: { filter: { and }, trash } }) => {
      const idsOf = async (and: ListQuery['filter']['and']) => {
        const { key } = MODEL[resource]!
        const query: ListQuery = {
          filter: { and, or: [] }, sort: [], cursorFields: [], fields: key, include: [], counts: [], limit: 25, trash,
        }
        const all: string[] = []
        let cursor: string | null = ''
        while (cursor !== null) {
          const { data, meta }: { data: Row[], meta: { nextCursor: string | null } }
            = await ask(server, resource, spellList(resource, query, { cursor }, [], spelling), viewer)
          all.push(...data.map(row => addressOf(resource, row)))
          cursor = meta.nextCursor
        }
        return all
      }
      const [matching, others] = [await idsOf(and), await idsOf([{ combine: '$not', branches: [and] }])]
      coverage.answer(others.length)
      expect([...matching, ...others].sort()).toEqual((await idsOf([])).sort())
    })
  },
}

/** Makes a query wrong, or its caller. The list refuses some of these: then the export has to refuse them too. */
const SPOILERS: readonly (readonly [string, string])[] = [
  ['sort', 'secret'],
  ['fields', 'nothing'],
  ['filter[secret]', 'x'],
  ['filter[id][$near]', '1'],
  ['include', 'nobody'],
  ['include', 'nobody,nothing'],
  ['onlyDeleted', 'perhaps'],
  ['sort', 'margin'],
  ['fields', 'salary'],
  ['onlyDeleted', 'true'],
  ['filter[tags][name]', 'x'],
]

/** A file of every format holds the records of the whole list, in its order; where the list is refused, so is the file. */
const exported: Property = {
  share: 0.3,
  create: (server, coverage) => {
    const spoiler = fc.option(fc.constantFrom(...SPOILERS), { freq: 3, nil: undefined })
    const callers = fc.constantFrom<((viewer: Viewer) => Caller)[]>(
      callerOf,
      callerOf,
      callerOf,
      () => ({}),
      () => ({ user: { id: 1 }, permissions: ['trash'] }),
    )
    return fc.asyncProperty(
      asked(server, 2),
      spoiler,
      callers,
      async ({ resource, viewer, spelling, query: drawn }, spoiler, callerFor) => {
        const query: ListQuery = { ...drawn, cursorFields: [] }
        const caller = callerFor(viewer)
        const params = spellList(resource, query, { page: 1, count: true }, [], spelling)
        for (const name of ['page', 'limit', 'count']) params.delete(name)
        if (spoiler) params.append(...spoiler)
        const list = await server.request('GET', `/api/${resource}?${params}`, { caller })
        const lines = await exportOf(server, resource, params, 'ndjson', caller)
        coverage.list(resource, query)
        if (list.status !== 200) {
          expect([lines.status, lines.code]).toEqual([list.status, list.body.data.code])
          return
        }
        expect([lines.status, lines.code]).toEqual([200, undefined])
        coverage.answer(lines.records.length)
        if (spoiler || callerFor !== callerOf) expect(lines.records.slice(0, list.body.data.length)).toEqual(list.body.data)
        else {
          const world = worldOf(server, viewer)
          expect(lines.records).toEqual(
            listRows(world, resource, query).map(row => toRecord(world, resource, row, query)),
          )
        }
        expect((await exportOf(server, resource, params, 'json', caller)).records).toEqual(lines.records)
        const csv = await exportOf(server, resource, params, 'csv', caller)
        if (hasLists(resource, query.include)) expect([csv.status, csv.code]).toEqual([400, 'INVALID_QUERY'])
        else expect(csv.records).toEqual(lines.records.map(record => toCells(resource, record, csv.header)))
      },
    )
  },
}

const hasLists = (resource: string, include: ListQuery['include']): boolean =>
  include.some(({ relation, include }) => {
    const { kind, target } = MODEL[resource]!.relations[relation]!
    return kind !== 'one' || hasLists(target, include)
  })

/** Those that only read hold on every engine. */
export const READING: Readonly<Record<string, Property>> = {
  'a page holds the rows, the included rows, the total and the aggregates the oracle expects': page,
  'the pages of both modes, one after another, are the whole ordered list': walk,
  'aggregates, groups and having say what the oracle counts': grouped,
  'a filter and its $not divide the rows': divided,
  'an exported file holds the records of the whole list, or is refused like the list': exported,
}

export const PROPERTIES: Readonly<Record<string, Property<Newsdata>>> = {
  ...READING,
  'a cursor meets every untouched row exactly once while rows are inserted and deleted': churn,
}
