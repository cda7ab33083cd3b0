/** Property: the routes accept what the description lists, and refuse what it leaves out, for every caller of three APIs. */
import { getTableColumns, type Table } from 'drizzle-orm'
import type Database from 'better-sqlite3'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { OPERATORS, type OperatorName } from '../../../src/runtime/shared/operators'
import type { ApiDescription, DescribedField } from '../../../src/runtime/shared/types/description'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { articlesAuth, closedAuth, tagsAuth } from '../../fixtures/visibility/server/auth'
import * as visibility from '../../fixtures/visibility/server/database/schema'
import { db as visibilityDb, reset } from '../../fixtures/visibility/server/database/client'
import { CALLERS as MATRIX_CALLERS } from '../../support/matrix/reasons'
import { createRegistrations, NEWS_CONFIG, openNewsdata, tables } from '../../support/newsdata/server'
import { createServer, type Caller, type TestServer } from '../../support/server'
import { CALLERS as MAGAZINE_CALLERS, openMagazine, registrations as ofMagazine } from '../../support/magazine'

interface World extends TestServer {
  readonly registrations: readonly ResourceRegistration[]
  readonly client?: Database.Database
}

const ofVisibility: ResourceRegistration[] = [
  { name: 'articles', schema: visibility.articles, authorization: articlesAuth as never, hiddenFields: ['note'] },
  { name: 'closed', schema: visibility.articles, authorization: closedAuth as never },
  { name: 'forgotten', schema: visibility.articles },
  { name: 'tags', schema: visibility.tags, authorization: tagsAuth as never },
  { name: 'labels', schema: visibility.tags, authorization: tagsAuth as never, hiddenFields: ['id'] },
]

const WORLDS: Record<string, { readonly open: () => Promise<World>, readonly callers: Readonly<Record<string, Caller>> }> = {
  magazine: {
    open: async () => ({ ...await openMagazine(), registrations: ofMagazine }),
    callers: MAGAZINE_CALLERS,
  },
  newsroom: {
    open: async () => ({ ...await openNewsdata({ config: NEWS_CONFIG }), registrations: createRegistrations(tables) }),
    callers: {
      reader: { user: { id: 1, organizationId: 1 }, permissions: [] },
      hr: { user: { id: 1, organizationId: 1 }, permissions: ['hr', 'trash', 'drafts'] },
      homeless: { user: { id: 1 }, permissions: ['hr'] },
    },
  },
  visibility: {
    async open() {
      reset()
      const server = await createServer({
        db: visibilityDb,
        registrations: ofVisibility,
        modules: [visibility],
        config: { multiTenancy: DEFAULT_MULTI_TENANCY },
      })
      return { ...server, registrations: ofVisibility }
    },
    callers: MATRIX_CALLERS as unknown as Record<string, Caller>,
  },
}

/** A valid value of each kind. */
const VALUES: Readonly<Record<DescribedField['kind'], unknown>> = {
  text: 'a',
  number: 1.5,
  integer: 1,
  boolean: true,
  date: '2026-01-01T00:00:00Z',
  bigint: '1',
  decimal: '1.5',
  json: { a: 1 },
  blob: 'AA==',
  custom: 'a',
}

const kinds = new Map<string, DescribedField['kind']>()

function valueFor(operator: OperatorName, kind: DescribedField['kind'], choices?: readonly string[]): unknown {
  const value = choices?.[0] ?? VALUES[kind]
  switch (OPERATORS[operator].value) {
    case 'list': return [value]
    case 'boolean': return true
    case 'range': return [value, value]
    case 'pattern': return 'a'
    case 'text': return 'a'
    default: return value
  }
}

let world: World

afterEach(() => {
  world.client?.close()
  vi.restoreAllMocks()
})

/** The kinds of all columns, from a caller without restrictions; the description leaves out hidden columns. */
async function learnKinds(): Promise<void> {
  const registrations = world.registrations.map(({ name, schema }): ResourceRegistration => ({
    name,
    schema,
    authorization: { permissions: { read: true } },
  }))
  const { request } = await createServer({ registrations, db: visibilityDb })
  const { body } = await request('GET', '/api/_schema')
  for (const [name, { fields }] of Object.entries((body as ApiDescription).resources))
    for (const [field, { kind }] of Object.entries(fields)) kinds.set(`${name}.${field}`, kind)
}

describe.each(Object.entries(WORLDS))('in the %s', (_, { open, callers }) => {
  const all: string[] = []

  // Without this check, the property would also hold for an API that refuses everything.
  afterAll(() => expect(all.length).toBeGreaterThan(100))

  it.each(Object.entries(callers))(
    'a list accepts exactly the described fields, operators, sorts, includes and counts, for %s',
    async (_, caller) => {
      vi.spyOn(console, 'warn').mockImplementation(() => {})
      world = await open()
      await learnKinds()
      const { resources } = (await world.request('GET', '/api/_schema', { caller })).body as ApiDescription
      const relationNames = new Set(['author', 'nothing', ...Object.values(resources).flatMap(({ relations }) => Object.keys(relations))])
      const accepted: string[] = []
      const described: string[] = []
      const ask = async (what: string, isDescribed: boolean, query: string) => {
        const { status, text } = await world.request('GET', `/api/${query}`, { caller })
        expect([200, 400, 401, 403], `${what}: ${text}`).toContain(status)
        if (status === 200) accepted.push(what)
        if (isDescribed) described.push(what)
      }
      for (const { name, schema } of world.registrations) {
        const resource = resources[name]
        const isRead = resource?.capabilities.canRead === true
        await ask(`read ${name}`, isRead, `${name}?limit=1`)
        for (const column of [...Object.keys(getTableColumns(schema as Table)), 'nothing']) {
          const field = resource?.fields[column]
          const at = `${name}.${column}`
          await ask(`select ${at}`, isRead && field?.readable === true, `${name}?limit=1&fields=${column}`)
          await ask(`sort ${at}`, isRead && field?.sortable === true, `${name}?limit=1&sort=${column}`)
          await ask(`group ${at}`, field?.sortable === true && field.aggregates.length > 0, `${name}/aggregate?groupBy=${column}`)
          for (const aggregate of ['count', 'sum', 'avg', 'min', 'max'] as const)
            await ask(
              `${aggregate} ${at}`,
              field?.aggregates.includes(aggregate) === true,
              `${name}/aggregate?aggregate=${aggregate}(${column})`,
            )
          for (const operator of Object.keys(OPERATORS) as OperatorName[]) {
            const filter = JSON.stringify({ [column]: { [operator]: valueFor(operator, kinds.get(at) ?? 'text', field?.enum) } })
            await ask(
              `${operator} ${at}`,
              isRead && field?.operators.includes(operator) === true,
              `${name}?limit=1&filter=${encodeURIComponent(filter)}`,
            )
          }
        }
        for (const relation of relationNames) {
          await ask(
            `filter ${name}.${relation}`,
            resource?.relations[relation]?.filterable === true,
            `${name}${isRead ? '' : '/aggregate'}?limit=1&filter[${relation}][$null]=false`,
          )
          await ask(
            `include ${name}.${relation}`,
            resource?.relations[relation]?.includable === true,
            `${name}?limit=1&include=${relation}`,
          )
          await ask(
            `count ${name}.${relation}`,
            resource?.relations[relation]?.countable === true,
            `${name}?limit=1&counts=${relation}`,
          )
        }
      }
      expect(accepted).toEqual(described)
      all.push(...described)
    },
    120_000,
  )
})

describe('in the magazine', () => {
  it.each(Object.entries(MAGAZINE_CALLERS))(
    'an update changes exactly the described columns and the hidden ones that are writable, for %s',
    async (_, caller) => {
      world = await openMagazine().then(magazine => ({ ...magazine, registrations: ofMagazine }))
      const client = world.client!
      const { resources } = (await world.request('GET', '/api/_schema', { caller })).body as ApiDescription
      const columns = Object.entries(getTableColumns(ofMagazine.find(({ name }) => name === 'stories')!.schema as Table))
      const row = () => JSON.stringify(client.prepare('select * from tbl_stories where id = 1').get())
      for (const [name, column] of columns) {
        const value
          = name === 'status'
            ? 'published'
            : name.endsWith('Id')
              ? 1
              : column.dataType === 'string'
                ? /price/.test(name)
                  ? '7'
                  : 'changed'
                : VALUES[
                  ({ number: 'integer', boolean: 'boolean', date: 'date', bigint: 'bigint', json: 'json', buffer: 'blob' } as const)[
                    column.dataType as 'number'
                  ]
                ]
        client.exec('update tbl_stories set author_id = null, reviewer_id = null, words = 99 where id = 1')
        const before = row()
        await world.request('PATCH', '/api/stories/1', { caller, body: { [name]: value } })
        const isHidden = name === 'secret' && resources.stories?.capabilities.canUpdate === true
        expect([name, row() !== before]).toEqual([name, isHidden || (resources.stories?.fields[name]?.writable.update ?? false)])
      }
    },
  )

  it.each(Object.entries(MAGAZINE_CALLERS))('a link changes exactly as described, for %s', async (_, caller) => {
    world = await openMagazine().then(magazine => ({ ...magazine, registrations: ofMagazine }))
    const { resources } = (await world.request('GET', '/api/_schema', { caller })).body as ApiDescription
    const linkable = resources.stories?.relations.topics?.linkable ?? { add: false, remove: false, replace: false }
    for (const [mode, method] of [['remove', 'DELETE'], ['add', 'POST'], ['replace', 'PUT']] as const) {
      const { status } = await world.request(method, '/api/stories/1/relations/topics', { caller, body: { ids: [1] } })
      expect([mode, status === 200]).toEqual([mode, linkable[mode]])
    }
  })
})
