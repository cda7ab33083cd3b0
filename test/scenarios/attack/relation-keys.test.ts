/**
 * A relation compares columns: it is usable only by callers who can read the key columns on both sides, and those of a registered junction.
 */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { describeResources } from '../../../src/runtime/server/schema/describe'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { OPEN, serveTables } from '../../support/tables-server'

const people = sqliteTable('people', { id: integer('id').primaryKey(), ssn: text('ssn').unique(), name: text('name') })
const guesses = sqliteTable('guesses', { id: integer('id').primaryKey(), personSsn: text('person_ssn').references(() => people.ssn) })
const clubs = sqliteTable('clubs', { id: integer('id').primaryKey(), code: text('code').unique() })
const members = sqliteTable('members', {
  personSsn: text('person_ssn').references(() => people.ssn), clubCode: text('club_code').references(() => clubs.code),
}, t => [primaryKey({ columns: [t.personSsn, t.clubCode] })])

const DDL = `
  create table people (id integer primary key, ssn text unique, name text);
  create table guesses (id integer primary key, person_ssn text references people(ssn));
  create table clubs (id integer primary key, code text unique);
  create table members (person_ssn text references people(ssn), club_code text references clubs(code), primary key (person_ssn, club_code));
  insert into people values (1, '123-45', 'Ada');
  insert into guesses values (1, '123-45');
  insert into clubs values (1, 'c');
  insert into members values ('123-45', 'c');
`
const modules = [{ people, guesses, clubs, members }]
const authorization = { permissions: OPEN }
const signedIn = { user: { id: 1 }, permissions: [] }

type Registrations = Record<string, Omit<ResourceRegistration, 'name'>>

/** @param secret makes the columns `ssn` and `code` unreadable */
const resources = (secret: (column: string) => Partial<ResourceRegistration>): Registrations => ({
  people: { schema: people, authorization, ...secret('ssn') },
  guesses: { schema: guesses, authorization },
  clubs: { schema: clubs, authorization, ...secret('code') },
})

const SECRETS: [name: string, secret: (column: string) => Partial<ResourceRegistration>][] = [
  ['hidden', column => ({ hiddenFields: [column] })],
  ['unreadable', column => ({ authorization: { permissions: OPEN, fields: { [column]: { read: 'hr' } } } as never })],
]

/** Relations over the secret columns, from either side. */
const INCLUDES = [['guesses', 'personSsnRecord'], ['people', 'guesses'], ['people', 'clubs'], ['clubs', 'people']]

describe.each(SECRETS)('a relation over a column that is %s', (_name, secret) => {
  it.each(INCLUDES)('is unknown to an include from either side: %s?include=%s', async (resource, relation) => {
    const target = await serveTables(DDL, modules, resources(secret))
    const [hidden, missing] = [
      await target.request('GET', `/api/${resource}?include=${relation}`),
      await target.request('GET', `/api/${resource}?include=nobody`),
    ]
    expect([hidden.status, hidden.body.data.code]).toEqual([400, 'UNKNOWN_RELATION'])
    expect(hidden.text).toBe(missing.text.replaceAll('nobody', relation!))
  })

  it.each(INCLUDES)('is unknown to the relation routes: /%s/1/relations/%s', async (resource, relation) => {
    const target = await serveTables(DDL, modules, resources(secret))
    const path = (name: string) => `/api/${resource}/1/relations/${name}`
    for (const [method, body] of [['GET', undefined], ['PUT', { ids: [1] }], ['POST', { ids: [1] }], ['DELETE', { ids: [1] }]] as const) {
      const [hidden, missing] = [
        await target.request(method, path(relation!), { body }),
        await target.request(method, path('nobody'), { body }),
      ]
      expect([hidden.status, hidden.text]).toEqual([404, missing.text.replaceAll('nobody', relation!)])
    }
    expect(target.rows('members')).toEqual([['123-45', 'c']])
  })

  it('is not in the list of relationships for a signed-in caller', async () => {
    const target = await serveTables(DDL, modules, resources(secret))
    expect((await target.request('GET', '/api/_m2m/detect/people', { caller: signedIn })).body.relationships).toEqual([])
    const open = await serveTables(DDL, modules, resources(() => ({})))
    expect(
      (await open.request('GET', '/api/_m2m/detect/people', { caller: signedIn })).body.relationships.map(
        ({ name }: { name: string }) => name,
      ),
    ).toEqual(['clubs'])
  })
})

describe('a relation over a readable column', () => {
  it.each(INCLUDES)('is known: %s?include=%s', async (resource, relation) => {
    const target = await serveTables(DDL, modules, resources(() => ({})))
    expect((await target.request('GET', `/api/${resource}?include=${relation}`)).body.data[0][relation!]).toBeTruthy()
  })
})

it('a relation over a hidden column is in no generated type of either side', () => {
  const described = (secret: (column: string) => Partial<ResourceRegistration>) => {
    const registrations = Object.entries(resources(secret)).map(
      ([name, registration]) => ({ name, ...registration }) as ResourceRegistration,
    )
    return describeResources(registrations, modules, DEFAULT_CONFIG).flatMap(({ relations }) => relations.map(({ name }) => name))
  }
  expect(described(column => ({ hiddenFields: [column] }))).toEqual([])
  expect(described(() => ({})).sort()).toEqual(['clubs', 'guesses', 'people', 'personSsnRecord'])
})

describe('a relation over a registered junction', () => {
  const open = (hiddenFields: string[]) =>
    serveTables(DDL, modules, { ...resources(() => ({})), members: { schema: members, authorization, hiddenFields } })
  it.each([
    ['personSsn', 400],
    ['clubCode', 400],
    [undefined, 200],
  ])('is unknown when one of the junction\'s key columns is hidden: %s', async (column, status) => {
    const target = await open(column === undefined ? [] : [column])
    expect((await target.request('GET', '/api/people?include=clubs')).status).toBe(status)
    expect((await target.request('GET', '/api/clubs?include=people')).status).toBe(status)
  })
})
