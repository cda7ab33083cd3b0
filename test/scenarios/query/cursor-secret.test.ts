/** A cursor over a column that the caller cannot read is encrypted: nobody can read its values or make one of their own. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { createSecrets } from '../../../src/runtime/server/core/process/secret'
import { createServer } from '../../support/server'

const patients = sqliteTable('patients', {
  clinic: integer('clinic').notNull(), ssn: text('ssn').notNull(), name: text('name').notNull(),
}, t => [primaryKey({ columns: [t.clinic, t.ssn] })])

const DDL = `
  create table patients (clinic integer not null, ssn text not null, name text not null, primary key (clinic, ssn));
  insert into patients values (1, '100-secret', 'Ada'), (1, '200-secret', 'Bob'), (2, '300-secret', 'Cid'), (2, '400-secret', 'Dee'), (3, '500-secret', 'Eve');
`
const SECRETS = [
  ['hidden', { hiddenFields: ['ssn'] }, {}],
  ['under a read rule', {}, { fields: { ssn: { read: 'doctor' } } }],
] as const

async function open(
  secret: string | undefined, registration: object = SECRETS[1][1], rules: object = SECRETS[1][2], previousSecret?: string,
) {
  const client = new Database(':memory:')
  client.exec(DDL)
  const { request } = await createServer({
    registrations: [
      { name: 'patients', schema: patients, ...registration, authorization: { permissions: { read: true }, ...rules } } as never,
    ],
    db: drizzle({ client }),
    secret,
    previousSecret,
  })
  return (query: string, permissions: string[] = []) =>
    request('GET', `/api/patients?${query}`, { caller: { user: { id: 1 }, permissions } })
}

const decode = (cursor: string) => Buffer.from(cursor, 'base64url').toString('latin1')

const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
afterEach(() => warn.mockClear())

describe.each(SECRETS)('a cursor over a key column that is %s', (_name, registration, rules) => {
  it.each(['', '&sort=name', '&sort=-clinic', '&cursorFields=-name'])(
    'returns all rows and discloses nothing of the column: %s',
    async (sort) => {
      const ask = await open('a secret', registration, rules)
      const names: string[] = []
      const cursors = new Set<string>()
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body }: { body: { data: { name: string }[], meta: { nextCursor: string | null } } } = await ask(
          `limit=1&cursor=${cursor}${sort}`,
        )
        names.push(...body.data.map(({ name }) => name))
        cursor = body.meta.nextCursor
        if (cursor !== null) cursors.add(cursor)
      }
      expect(names.toSorted()).toEqual(['Ada', 'Bob', 'Cid', 'Dee', 'Eve'])
      expect(cursors.size).toBe(4)
      for (const cursor of cursors) expect(decode(cursor)).not.toMatch(/secret|ssn|patients/)
      // Its length says nothing of the values either.
      expect(new Set([...cursors].map(({ length }) => length)).size).toBe(1)
    },
  )

  it('returns 400 for a cursor that was changed, issued with another secret, or issued for another order', async () => {
    const [ask, other] = [await open('a secret', registration, rules), await open('another secret', registration, rules)]
    const { nextCursor } = (await ask('limit=1&cursor=')).body.meta
    const bytes = Buffer.from(nextCursor, 'base64url')
    const flipped = Array.from({ length: bytes.length }, (_, at) =>
      Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))).toString('base64url'),
    )
    for (const cursor of [...flipped, nextCursor.slice(0, -4), `${nextCursor}AAAA`, 'AAAA', 'x'])
      expect((await ask(`cursor=${cursor}`)).body.data.code).toBe('INVALID_CURSOR')
    expect((await ask(`cursor=${nextCursor}&sort=name`)).body.data.code).toBe('INVALID_CURSOR')
    expect((await other(`cursor=${nextCursor}`)).body.data.code).toBe('INVALID_CURSOR')
    expect((await ask(`cursor=${nextCursor}`)).status).toBe(200)
  })

  it('is accepted from the previous secret while it is set, and each new one is made with the new secret', async () => {
    const openWith = (secret: string, previous?: string) => open(secret, registration, rules, previous)
    const [before, during, after] = [await openWith('old'), await openWith('new', 'old'), await openWith('new')]
    const old = (await before('limit=1&cursor=')).body.meta.nextCursor
    const next = await during(`limit=1&cursor=${old}`)
    expect(next.body.data).toEqual((await before(`limit=1&cursor=${old}`)).body.data)
    expect((await after(`cursor=${old}`)).body.data.code).toBe('INVALID_CURSOR')
    const { nextCursor } = next.body.meta
    expect((await after(`limit=1&cursor=${nextCursor}`)).body.data).toEqual((await during(`limit=1&cursor=${nextCursor}`)).body.data)
    expect((await before(`cursor=${nextCursor}`)).body.data.code).toBe('INVALID_CURSOR')
  })

  it('requires a secret in production: without one, cursor pages return 400, numbered pages work, and startup names the list', async () => {
    const ask = await open(undefined, registration, rules)
    expect(
      warn.mock.calls.flat().filter(text => String(text).includes('`patients`') && String(text).includes('NUXT_AUTO_API_SECRET')),
    ).toHaveLength(1)
    for (const query of ['cursor=', 'cursor=abc', 'cursor=&sort=name'])
      expect((await ask(query)).body.data).toEqual({ code: 'INVALID_QUERY', parameter: 'cursor' })
    expect((await ask('page=1')).body.data).toHaveLength(5)
  })
})

describe('a cursor of a caller who can read the whole order', () => {
  it('has a checksum, needs no secret, and is not valid for a caller who cannot read the order', async () => {
    const doctor = ['doctor']
    const [ask, without] = [await open('a secret'), await open(undefined)]
    const { nextCursor } = (await without('limit=1&cursor=', doctor)).body.meta
    expect(nextCursor.split('*').map((value: string) => decode(value.replace(/^.*s/, '')))).toContain('100-secret')
    expect((await ask(`cursor=${nextCursor}`, doctor)).body.data).toHaveLength(4)
    expect((await ask(`cursor=${nextCursor}`)).body.data.code).toBe('INVALID_CURSOR')
    const encrypted = (await ask('limit=1&cursor=')).body.meta.nextCursor
    expect((await ask(`cursor=${encrypted}`, doctor)).body.data.code).toBe('INVALID_CURSOR')
  })
})

describe('the secret', () => {
  it('is read from the runtime configuration with each request', () => {
    const events: unknown[] = []
    const find = createSecrets((event) => {
      events.push(event)
      return { autoApi: { secret: 'own' } }
    }, true)
    expect([find('event'), events]).toEqual([['own'], ['event']])
  })

  it('is random and constant in a development process, and absent in production', () => {
    for (const config of [undefined, () => ({}), () => ({ autoApi: { secret: '' } })]) {
      const find = createSecrets(config, true)
      expect([find()![0].length > 40, find() === find('event')]).toEqual([true, true])
      expect(createSecrets(config, false)()).toBeUndefined()
    }
    expect(createSecrets(undefined, true)()).not.toEqual(createSecrets(undefined, true)())
  })

  it('is not required at startup where every caller can read every key', async () => {
    await open(undefined, {}, { fields: { name: { read: 'doctor' }, ssn: { read: true, write: 'doctor' } } })
    expect(warn.mock.calls.flat().filter(text => String(text).includes('SECRET'))).toEqual([])
  })
})
