/** The resource of the docs page `from-supabase` decides like the policies that it replaces, on Postgres in this process. */
import { readFileSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toRegistrations } from '../../../src/runtime/testing/api/resources'
import { createTablesSql } from '../../support/create-tables'
import { createServer, type TestServer } from '../../support/server'
import documents from './supabase/documents'
import * as schema from './supabase/schema'

const idOf = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`
const USERS = { ada: idOf(1), ben: idOf(2), eve: idOf(3) }
const [RED, BLUE] = [idOf(4), idOf(5)]
const CALLERS = [undefined, ...Object.values(USERS)]

let client: PGlite
let server: TestServer
let ids: string[]
beforeAll(async () => {
  client = new PGlite()
  await client.exec((await createTablesSql('pg', schema)).replaceAll('--> statement-breakpoint', ''))
  await client.exec(`create schema auth; create role authenticated; create role anon;
    create function auth.uid() returns uuid language sql stable as
    $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
    insert into teams values ('${RED}', 'red'), ('${BLUE}', 'blue');
    insert into members (team_id, user_id, role) values
      ('${RED}', '${USERS.ada}', 'editor'), ('${RED}', '${USERS.ben}', 'reader'), ('${BLUE}', '${USERS.eve}', 'editor');
    insert into documents (team_id, author_id, title, published)
      select t, a, 'x', p from unnest(array['${RED}', '${BLUE}']::uuid[]) t,
        unnest(array['${USERS.ada}', '${USERS.ben}', '${USERS.eve}']::uuid[]) a, unnest(array[true, false]) p;`)
  await client.exec(readFileSync(new URL('supabase/policies.sql', import.meta.url), 'utf8'))
  await client.exec('grant usage on schema auth to anon, authenticated; grant all on documents, members, teams to anon, authenticated')
  ids = (await client.query<{ id: string }>('select id from documents order by id')).rows.map(({ id }) => id)
  const registrations = [
    ...await toRegistrations({ documents }),
    { name: 'teams', schema: schema.teams, authorization: { permissions: { read: true } } } as const,
  ]
  server = await createServer({ db: drizzle({ client }), engine: 'postgres', modules: [schema], registrations })
})
afterAll(() => client.close())

/** Runs a statement with the policies of the caller, and rolls it back. Returns the rows, or undefined if a policy refuses it. */
async function withPolicies(user: string | undefined, sql: string): Promise<string[] | undefined> {
  await client.exec(`begin; set local role ${user ? 'authenticated' : 'anon'}; select set_config('request.jwt.claim.sub', '${user ?? ''}', true)`)
  try {
    return (await client.query<{ id: string }>(sql)).rows.map(({ id }) => id)
  }
  catch {
    return undefined
  }
  finally {
    await client.exec('rollback')
  }
}

const ask = (user: string | undefined, method: string, path: string, body?: object) =>
  server.request(method, `/api/documents${path}`, { ...user && { caller: { user: { id: user } } }, ...body && { body } })

it('lists the same documents', async () => {
  const counts = []
  for (const user of CALLERS) {
    const expected = await withPolicies(user, 'select id from documents order by id')
    const { body } = await ask(user, 'GET', '?sort=id&limit=100')
    expect((body.data as { id: string }[]).map(({ id }) => id)).toEqual(expected)
    counts.push(expected!.length)
  }
  expect(counts).toEqual([6, 9, 9, 9])
})

it.each([
  ['update', 'PATCH', (id: string) => `update documents set title = 'y' where id = '${id}' returning id`],
  ['delete', 'DELETE', (id: string) => `delete from documents where id = '${id}' returning id`],
] as const)('allows the same documents for %s', async (_, method, sql) => {
  let allowed = 0
  for (const user of CALLERS) {
    for (const id of ids) {
      const rows = await withPolicies(user, sql(id))
      const { status } = await server.request(method, `/api/documents/${id}`, {
        headers: { prefer: 'tx=rollback' }, ...user && { caller: { user: { id: user } } }, ...method === 'PATCH' && { body: { title: 'y' } },
      })
      expect([user, id, status < 300]).toEqual([user, id, rows!.length === 1])
      allowed += rows!.length
    }
  }
  expect(allowed).toBeGreaterThan(2)
})

it('allows the same creates', async () => {
  for (const user of CALLERS) {
    for (const teamId of [RED, BLUE]) {
      const rows = await withPolicies(user, `insert into documents (team_id, author_id, title) values ('${teamId}', '${user ?? USERS.ada}', 'n') returning id`)
      const { status } = await ask(user, 'POST', '', { teamId, title: 'n', authorId: user ?? USERS.ada })
      expect([user, teamId, status]).toEqual([user, teamId, rows ? 201 : user ? 403 : 401])
    }
  }
})
