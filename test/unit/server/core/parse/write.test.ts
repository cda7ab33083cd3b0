/** What the bodies of writes mean: records, batches, links and conditions, without a database. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ApiRequest } from '../../../../../src/runtime/server/core/request/api-request'
import type { Call } from '../../../../../src/runtime/server/core/request/session'
import { parseGet } from '../../../../../src/runtime/server/core/parse/list'
import { validate } from '../../../../../src/runtime/server/core/parse/standard-schema'
import { toIfMatch } from '../../../../../src/runtime/server/core/parse/if-match'
import { linkCountsAs, parseLink, parseLinks, parseRelated } from '../../../../../src/runtime/server/core/parse/relation'
import {
  deleteOperation,
  parseBulkCreate,
  parseBulkDelete,
  parseBulkRestore,
  parseBulkUpdate,
  parseCreate,
  parseDelete,
  parseRestore,
  parseUpdate,
  purgeCountsAs,
  toGroupRequest,
} from '../../../../../src/runtime/server/core/parse/write'
import type { ResourceRegistration } from '../../../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../../../src/runtime/shared/config'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults'
import { pg, resourceOf, sqlite, tenancy } from '../../../../support/tables'

const TAG = 'AAAAAAAAAAAAAAAA'
const OTHER = 'BBBBBBBBBBBBBBBB'
const textKeys = sqliteTable('keyed', { id: text('id').primaryKey(), name: text('name') })

type Registration = Omit<ResourceRegistration, 'name'>
function callOf(registration: Partial<Registration> = {}, config: Partial<AutoApiConfig> = {}): Call {
  // The tenant column of the posts is the server's.
  const resource = resourceOf({ schema: sqlite.posts, ...registration } as Registration, registration.schema ? {} : tenancy())
  const api = { config: { ...DEFAULT_CONFIG, ...config }, reservedIds: new Set(['bulk', 'aggregate']) }
  return { api, resource, ctx: { operation: 'update', user: null, permissions: [] }, memo: new Map() } as unknown as Call
}
interface Sent {
  readonly body?: unknown
  readonly id?: string
  readonly query?: ApiRequest['query']
  readonly ifMatch?: string
  readonly method?: string
  readonly relation?: string
}
const request = ({ body, id, query = {}, ifMatch, method = 'PATCH', relation }: Sent) =>
  ({
    method,
    query,
    params: { ...(id !== undefined && { id }), ...(relation !== undefined && { relation }) },
    body: async () => body,
    header: (name: string) => (name === 'if-match' ? ifMatch : undefined),
  }) as unknown as ApiRequest

async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return await run()
  }
  catch (thrown) {
    const { message, data } = thrown as { message: string, data?: { code: string, issues?: object[] } }
    if (!data) throw thrown
    return data.issues ? { code: data.code, issues: data.issues } : { code: data.code, message }
  }
}
const refusal = (code: string, message: string) => ({ code, message: expect.stringContaining(message) })
const issue = (path: string[], message: string, code: string) => ({ path, message, code })
const values = (data: unknown) => (data as { items: { data?: { values: object } }[] }).items.map(({ data }) => data?.values)

describe('the body of a record', () => {
  const create = (body: unknown, registration?: Partial<Registration>) =>
    outcome(async () => values(await parseCreate(request({ body, method: 'POST' }), callOf(registration)))[0])
  const update = (body: unknown, registration?: Partial<Registration>) =>
    outcome(async () => values(await parseUpdate(request({ body, id: '1' }), callOf(registration)))[0])

  it('becomes the values of the columns, without those of the server', async () => {
    expect(await create({ title: 'a', score: 5 })).toEqual({ title: 'a', score: 5 })
    expect(await create({ title: 'a', id: 7, createdBy: 1, deletedAt: 'x', deletionId: 'y' })).toEqual({ title: 'a' })
    expect(await update({ id: 'no id', score: null })).toEqual({ score: null })
    expect(await update({})).toEqual({})
    const written = { date: '2026-01-31T12:00:00Z', bigint: '1234567890123456789', blob: 'AQID' }
    expect(await update(written, { schema: sqlite.kinds })).toEqual({
      date: new Date('2026-01-31T12:00:00Z'),
      bigint: 1234567890123456789n,
      blob: Buffer.from([1, 2, 3]),
    })
    const { items, bulk } = await parseUpdate(request({ body: { title: 'a', id: 7 }, id: '1' }), callOf())
    expect([bulk, items]).toEqual([false, [{ key: [1], data: { values: { title: 'a' }, sent: ['title'], given: ['title', 'id'] } }]])
  })

  it.each([null, undefined, [], 'x', 1, true])('is an object: not %j', async (body) => {
    expect(await create(body)).toEqual(refusal('INVALID_BODY', 'The body is not a JSON object.'))
  })

  it('lists all its problems at once', async () => {
    expect(await create({ titel: 'a', score: 'x', status: 'gone', x: 1 })).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [
        issue(['titel'], 'Unknown field "titel". Did you mean `title`?', 'unrecognized_keys'),
        issue(['x'], 'Unknown field "x".', 'unrecognized_keys'),
        issue(['score'], 'Expected a whole number.', 'invalid_type'),
        expect.objectContaining({ path: ['title'] }),
        expect.objectContaining({ path: ['status'] }),
      ],
    })
    expect(await update({ title: 'a\0b' })).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue(['title'], 'A value cannot contain NUL characters.', 'invalid_format')],
    })
    expect(await update({ title: null })).toEqual({ code: 'VALIDATION_FAILED', issues: [expect.objectContaining({ path: ['title'] })] })
  })

  it('says nothing about fields that the caller cannot read', async () => {
    const hidden = { hiddenFields: ['score'] }
    expect(await update({ score: 'x' }, hidden)).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue([], 'A value is missing or not valid.', 'invalid')],
    })
    expect(await update({ score: 'x', title: 1 }, hidden)).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue(['title'], 'Expected text.', 'invalid_type'), issue([], 'A value is missing or not valid.', 'invalid')],
    })
    expect(await update({ score: 5 }, hidden)).toEqual({ score: 5 })
  })

  it.each<[object, string]>([
    [{ title: 1 }, 'text'], [{ score: '5' }, 'a whole number'], [{ score: 1.5 }, 'a whole number'], [{ authorId: true }, 'a whole number'],
  ])('%j has the wrong type: expected %s', async (body, expected) => {
    expect(await update(body)).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue([Object.keys(body)[0]!], `Expected ${expected}.`, 'invalid_type')],
    })
  })

  it('has no NUL character anywhere in JSON, which Postgres refuses', async () => {
    const write = (json: unknown) => update({ json }, { schema: pg.kinds })
    const refused = { code: 'VALIDATION_FAILED', issues: [issue(['json'], 'A value cannot contain NUL characters.', 'invalid_format')] }
    for (const json of ['a\0', { a: 'b\0' }, { 'a\0': 1 }, { a: 1, b: { c: ['x', 'y\0'] } }, ['\0', 'a']])
      expect(await write(json)).toEqual(refused)
    for (const json of [null, 1, true, 'a', { a: 'b', c: null }, [1, 'x', null]]) expect(await write(json)).toEqual({ json })
    expect(await update({ integer: {} }, { schema: pg.kinds })).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue(['integer'], 'Expected a whole number.', 'invalid_type')],
    })
    expect(await update({ integer: { a: 'b\0' } }, { schema: pg.kinds })).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue(['integer'], 'A value cannot contain NUL characters.', 'invalid_format')],
    })
  })

  it('has the wrong type, whatever its JSON contains', async () => {
    for (const title of [{ a: null }, [null, 1], { a: { b: 'c' } }])
      expect(await update({ title })).toEqual({ code: 'VALIDATION_FAILED', issues: [issue(['title'], 'Expected text.', 'invalid_type')] })
  })

  it('of one new record has no tag to compare', async () => {
    expect(await outcome(() => parseCreate(request({ body: { title: 'a' }, ifMatch: '*' }), callOf()))).toEqual(
      refusal('INVALID_VALUE', 'this route does not compare it.'),
    )
    expect(await parseCreate(request({ body: { title: 'a' } }), callOf())).toMatchObject({ bulk: false })
  })

  const nested = (depth: number): unknown => depth === 0 ? 1 : { a: nested(depth - 1) }
  it('is nested at most 64 levels deep', async () => {
    expect(await create({ title: nested(64) })).toEqual(refusal('INVALID_BODY', 'The body is nested deeper than 64 levels.'))
    expect(await create({ title: nested(63) })).toMatchObject({ code: 'VALIDATION_FAILED' })
  })
})

describe('a schema of the app', () => {
  const validation = {
    create: z
      .object({
        title: z.string().min(2),
        score: z.number().default(3),
        note: z.string().optional(),
        at: z.string().optional(),
        deletionId: z.string().optional(),
      })
      .transform(({ at, ...rest }) => ({ ...rest, ...(at !== undefined && { createdBy: at, authorId: Number(at) }) })),
    update: z.object({ title: z.string().optional(), score: z.number().default(3), authorId: z.any().optional() }),
  }
  const call = () => callOf({ validation } as Partial<Registration>)
  const create = (body: unknown) => outcome(async () => values(await parseCreate(request({ body, method: 'POST' }), call()))[0])
  const update = (body: unknown) => outcome(async () => values(await parseUpdate(request({ body, id: '1' }), call()))[0])

  it('has its own keys, and its output counts', async () => {
    expect(await create({ title: 'ab', note: 'x' })).toEqual({ title: 'ab', note: 'x', score: 3 })
    expect(await create({ title: 'ab', at: '7' })).toEqual({ title: 'ab', score: 3, authorId: 7 })
    expect(await create({ title: 'ab', deletionId: 'x' })).toEqual({ title: 'ab', score: 3 })
    expect(await create({ title: 'ab', other: 1 })).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue(['other'], 'Unknown field "other".', 'unrecognized_keys')],
    })
    expect(await create({ title: 'a' })).toEqual({ code: 'VALIDATION_FAILED', issues: [expect.objectContaining({ path: ['title'] })] })
  })

  it('sets no defaults on update', async () => {
    expect(await update({ title: 'ab' })).toEqual({ title: 'ab' })
    expect(await update({ score: 5 })).toEqual({ score: 5 })
    expect(await update({})).toEqual({})
  })

  it('can leave keys out', async () => {
    const partly = {
      validation: { create: z.object({ title: z.string() }).transform(({ title }) => ({ title, score: undefined })) },
    } as unknown as Partial<Registration>
    expect(values(await parseCreate(request({ body: { title: 'a' } }), callOf(partly)))[0]).toEqual({ title: 'a' })
  })

  it('that throws fails the request, also in a batch', async () => {
    const broken = {
      validation: { create: z.object({ title: z.string() }).transform(() => JSON.parse('{') as object) },
    } as unknown as Partial<Registration>
    await expect(parseBulkCreate(request({ body: { items: [{ title: 'a' }] } }), callOf(broken))).rejects.toThrow(SyntaxError)
  })

  it('cannot return what the column does not accept', async () => {
    expect(await update({ authorId: 'x' })).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [issue(['authorId'], 'Expected a whole number.', 'invalid_type')],
    })
    expect(await update({ authorId: null })).toEqual({ authorId: null })
    const broken = { validation: { create: z.object({ title: z.string() }).transform(() => 5) } } as unknown as Partial<Registration>
    expect(await outcome(() => parseCreate(request({ body: { title: 'a' } }), callOf(broken)))).toEqual(
      refusal('INVALID_BODY', 'The body is not a JSON object.'),
    )
  })
})

describe('the issues of a validator', () => {
  const schemaOf = (result: object) => ({ '~standard': { version: 1, vendor: 'test', validate: async () => result } }) as never

  it('have a path of names and numbers, and a code', async () => {
    const issues = [
      { message: 'a', path: ['tags', 0, { key: 'name' }, { key: 1 }], code: 'custom' },
      { message: 'b' },
      { message: 'c', path: [Symbol('x')], code: 5 },
    ]
    expect(await outcome(() => validate(schemaOf({ issues }), {}))).toEqual({
      code: 'VALIDATION_FAILED',
      issues: [
        { path: ['tags', 0, 'name', 1], message: 'a', code: 'custom' },
        { path: [], message: 'b', code: 'invalid' },
        { path: ['Symbol(x)'], message: 'c', code: '5' },
      ],
    })
  })

  it('are none for valid values, whose output counts', async () => {
    expect(await outcome(() => validate(schemaOf({ value: { a: 1 } }), {}))).toEqual({ a: 1 })
  })
})

describe('an id that the client chooses', () => {
  const create = (id: unknown) =>
    outcome(async () => values(await parseCreate(request({ body: { id, name: 'a' } }), callOf({ schema: textKeys })))[0])

  it.each(['bulk', 'aggregate', '', '.', '..'])('is not %j, to which no path leads', async (id) => {
    expect(await create(id)).toEqual(refusal('INVALID_VALUE', `${JSON.stringify(id)} cannot be an id: no path leads to it.`))
  })

  it.each(['a', 'bulk2', '...'])('can be %j', async (id) => {
    expect(await create(id)).toEqual({ id, name: 'a' })
  })

  it('of several columns can begin with any of them', async () => {
    const pairs = sqliteTable('pairs', { first: text('first'), second: text('second') }, t => [
      primaryKey({ columns: [t.first, t.second] }),
    ])
    expect(values(await parseCreate(request({ body: { first: 'bulk', second: 'a' } }), callOf({ schema: pairs })))[0]).toEqual({
      first: 'bulk',
      second: 'a',
    })
  })
})

describe('a delete', () => {
  const parse = (sent: Sent, registration?: Partial<Registration>) =>
    outcome(() => parseDelete(request({ method: 'DELETE', ...sent }), callOf(registration)))

  it('has a key and can have a reason', async () => {
    expect(await parse({ id: '7' })).toEqual({ bulk: false, items: [{ key: [7] }] })
    expect(await parse({ id: '7', query: { reason: 'old' } })).toEqual({ bulk: false, items: [{ key: [7] }], reason: 'old' })
    expect(await parse({ id: '7', query: { reason: '' } })).toEqual({ bulk: false, items: [{ key: [7] }] })
    expect(await parse({ id: '7', query: { reason: 'a\0' } })).toEqual(refusal('INVALID_VALUE', 'expected text, without NUL characters.'))
    expect(await parse({ id: '7', query: { reason: ['a', 'b'] } })).toEqual(refusal('INVALID_QUERY', '`reason` is given more than once.'))
    expect(await parse({ id: '7', query: { force: 'yes' } })).toEqual(refusal('INVALID_QUERY', '`force` is true or false'))
    expect(await parse({ id: 'x' })).toEqual(refusal('NOT_FOUND', ''))
    // An invalid percent-encoding in the path leaves no id.
    for (const schema of [sqlite.posts, sqlite.follows]) expect(await parse({}, { schema })).toEqual(refusal('NOT_FOUND', ''))
  })

  it('has a reason that fits the column, if there is one', async () => {
    const withReason = sqliteTable('archived', {
      id: integer('id').primaryKey(),
      deletedAt: integer('deleted_at', { mode: 'timestamp' }),
      deletedReason: text('deleted_reason', { enum: ['old', 'wrong'] }),
    })
    const reason = (text: string, schema: Registration['schema']) => parse({ id: '7', query: { reason: text } }, { schema })
    expect(await reason('old', withReason)).toMatchObject({ reason: 'old' })
    expect(await reason('new', withReason)).toEqual(refusal('INVALID_VALUE', 'expected one of old, wrong, without NUL characters.'))
    expect(await parse({ id: 'a', query: { reason: 'new' } }, { schema: textKeys })).toMatchObject({ reason: 'new' })
    expect(await parse({ id: 'a', query: { reason: 'a\0' } }, { schema: textKeys })).toEqual(
      refusal('INVALID_VALUE', 'expected text, without NUL characters.'),
    )
  })

  it('with `force` is a purge, which counts as a delete too', () => {
    for (const [force, operation, further] of [
      ['true', 'purge', ['delete']],
      ['false', 'delete', []],
      [undefined, 'delete', []],
    ] as const) {
      const sent = request({ method: 'DELETE', query: force === undefined ? {} : { force } })
      expect([deleteOperation(sent), purgeCountsAs(sent)]).toEqual([[operation], further])
    }
  })

  it('and a restore can have a condition', async () => {
    expect(await parse({ id: '7', ifMatch: `"${TAG}"` })).toEqual({ bulk: false, items: [{ key: [7], ifMatch: new Set([TAG]) }] })
    expect(await outcome(() => parseRestore(request({ id: '7', ifMatch: '*' }), callOf()))).toEqual({
      bulk: false,
      items: [{ key: [7], ifMatch: '*' }],
    })
    expect(await outcome(() => parseRestore(request({ id: '7' }), callOf()))).toEqual({ bulk: false, items: [{ key: [7] }] })
    expect(await parse({ id: '7' }, { requireIfMatch: true })).toEqual(refusal('PRECONDITION_REQUIRED', ''))
    expect(await parse({ id: '7', ifMatch: `"${TAG}"` }, { requireIfMatch: true })).toMatchObject({ items: [{ ifMatch: new Set([TAG]) }] })
  })
})

describe('If-Match', () => {
  it.each<[string, '*' | string[]]>([
    ['*', '*'],
    [' * ', '*'],
    [`"${TAG}"`, [TAG]],
    [`"${TAG}.${OTHER}"`, [TAG]],
    [`"${TAG}","${OTHER}"`, [TAG, OTHER]],
    [` "${TAG}"\t, "${OTHER}" `, [TAG, OTHER]],
    [`"${TAG}",,"${OTHER}",`, [TAG, OTHER]],
    [`W/"${TAG}"`, []],
    ['"other"', []],
    ['""', []],
    [`"x${TAG}"`, []],
    [`"${TAG}x"`, []],
    [`"${TAG}."`, []],
    [`"${TAG}.${OTHER}x"`, []],
    [`W/"${TAG}", "${OTHER}"`, [OTHER]],
    ['"a,b"', []],
  ])('%s', (text, expected) => {
    expect(toIfMatch(text, 'If-Match')).toEqual(expected === '*' ? '*' : new Set(expected))
  })

  it.each([
    undefined,
    1,
    '',
    ' ',
    ',',
    ',,',
    TAG,
    `"${TAG}`,
    `${TAG}"`,
    `"${TAG}" "${OTHER}"`,
    `"${TAG}"x`,
    `x"${TAG}"`,
    `w/"${TAG}"`,
    '"a b"',
    '**',
    `*, "${TAG}"`,
  ])('%j is no tag', async (text) => {
    expect(await outcome(() => toIfMatch(text, 'If-Match'))).toEqual(refusal('INVALID_VALUE', 'expected an entity tag with its quotes'))
  })
})

describe('a batch', () => {
  const run = (
    parse: (request: ApiRequest, call: Call) => Promise<unknown>,
    body: unknown,
    { registration, config, ...sent }: Omit<Sent, 'body'> & { registration?: Partial<Registration>, config?: Partial<AutoApiConfig> } = {},
  ) => outcome(() => parse(request({ body, ...sent }), callOf(registration, config)))
  const many = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

  it('of creates has an error for each item that is not valid', async () => {
    const parsed = (await run(parseBulkCreate, { items: [{ title: 'a' }, { title: 5 }, 'x'] })) as {
      bulk: boolean
      items: { data?: { values: object }, error?: { data: { code: string } } }[]
    }
    expect(parsed.bulk).toBe(true)
    expect(parsed.items.map(({ data, error }) => data?.values ?? error?.data.code)).toEqual([
      { title: 'a' },
      'VALIDATION_FAILED',
      'INVALID_BODY',
    ])
  })

  it('of updates names each record once, by its id', async () => {
    const parsed = (await run(parseBulkUpdate, {
      items: [
        { id: 1, data: { title: 'a' } },
        { id: '2', data: { title: 'b' }, ifMatch: `"${TAG}"` },
        { id: 'x', data: { title: 'c' } },
        { id: 4 },
      ],
    })) as {
      bulk: boolean
      items: { id: unknown, key?: unknown, ifMatch?: unknown, data?: { values: object }, error?: { data: { code: string } } }[]
    }
    expect(parsed.bulk).toBe(true)
    expect(parsed.items.map(({ id, key, ifMatch, data, error }) => [id, key, ifMatch, data?.values, error?.data.code])).toEqual([
      [1, [1], undefined, { title: 'a' }, undefined],
      ['2', [2], new Set([TAG]), { title: 'b' }, undefined],
      ['x', undefined, undefined, { title: 'c' }, 'NOT_FOUND'],
      [4, [4], undefined, undefined, 'INVALID_BODY'],
    ])
  })

  it.each<[unknown, string]>([
    [{ items: ['x'] }, 'Every item is an object with `id` and `data`.'],
    [{ items: [{ id: 1, data: {}, ifmatch: '"a"' }] }, '"ifmatch" is not a key of an entry of `items`. Did you mean `ifMatch`?'],
    [{ items: [{ data: {} }] }, 'An id in `items` is a string or a number.'],
    [
      {
        items: [
          { id: 1, data: {} },
          { id: '1', data: {} },
        ],
      },
      'The id "1" is given more than once.',
    ],
    [
      {
        items: [
          { id: 2, data: {} },
          { id: 1, data: {} },
          { id: 2, data: {} },
        ],
      },
      'The id "2" is given more than once.',
    ],
  ])('of updates is refused: %j', async (body, message) => {
    expect(await run(parseBulkUpdate, body)).toEqual(refusal('INVALID_BODY', message))
  })

  it.each<[string, (request: ApiRequest, call: Call) => Promise<unknown>, 'items' | 'ids', (index: number) => unknown]>([
    ['creates', parseBulkCreate, 'items', () => ({ title: 'a' })],
    ['updates', parseBulkUpdate, 'items', id => ({ id, data: { title: 'a' } })],
    ['deletes', parseBulkDelete, 'ids', id => id],
    ['restores', parseBulkRestore, 'ids', id => id],
  ])('of %s is a list that is neither empty nor too long, and has no header `If-Match`', async (_what, parse, key, item) => {
    for (const body of [{}, { [key]: [] }, { [key]: {} }, { [key]: 'x' }])
      expect(await run(parse, body)).toEqual(refusal('INVALID_BODY', `\`${key}\` is a list that is not empty.`))
    expect(await run(parse, [])).toEqual(refusal('INVALID_BODY', 'The body is not a JSON object.'))
    expect(await run(parse, { [key]: many(101).map(item) })).toEqual(refusal('LIMIT_EXCEEDED', `\`${key}\` holds more than 100 entries.`))
    expect(((await run(parse, { [key]: many(100).map(item) })) as { items: unknown[] }).items).toHaveLength(100)
    expect(await run(parse, { [key]: many(1).map(item) }, { ifMatch: `"${TAG}"` })).toEqual(
      refusal('INVALID_VALUE', 'this route does not compare it.'),
    )
    expect(
      await run(parse, { [key]: many(1).map(item) }, { config: { bulk: { enabled: false, maxBatchSize: 100, transactional: true } } }),
    ).toEqual(refusal('INVALID_BODY', 'Bulk operations are turned off.'))
  })

  it('of deletes has ids, each once, and can have tags', async () => {
    expect(await run(parseBulkDelete, { ids: [1, '1', 2] })).toEqual({ bulk: true, items: [{ id: '1', key: [1] }, { id: 2, key: [2] }] })
    expect(await run(parseBulkDelete, { ids: [{ id: 1 }, { id: 2, ifMatch: `"${TAG}"` }] }, { query: { reason: 'old' } })).toEqual({
      bulk: true,
      items: [
        { id: 1, key: [1] },
        { id: 2, key: [2], ifMatch: new Set([TAG]) },
      ],
      reason: 'old',
    })
    for (const ids of [
      [{ id: 1, ifMatch: '*' }, 1],
      [1, { id: 1, ifMatch: '*' }],
    ])
      expect(await run(parseBulkDelete, { ids })).toEqual(refusal('INVALID_BODY', 'The id "1" is given more than once.'))
    expect(await run(parseBulkDelete, { ids: [{ id: 1, tag: 'x' }] })).toEqual(
      refusal('INVALID_BODY', '"tag" is not a key of an entry of `ids`.'),
    )
    expect(await run(parseBulkDelete, { ids: [null] })).toEqual(refusal('INVALID_BODY', 'An id in `ids` is a string or a number.'))
    const { items } = (await run(parseBulkDelete, { ids: ['x', { id: 2, ifMatch: 'x' }] })) as {
      items: { error: { data: { code: string } } }[]
    }
    expect(items.map(({ error }) => error.data.code)).toEqual(['NOT_FOUND', 'INVALID_VALUE'])
  })

  it('needs a tag for each record, if the resource requires tags', async () => {
    const registration = { requireIfMatch: true }
    const codes = (parsed: unknown) =>
      (parsed as { items: { ifMatch?: unknown, error?: { data: { code: string } } }[] }).items.map(
        ({ ifMatch, error }) => error?.data.code ?? ifMatch,
      )
    expect(codes(await run(parseBulkDelete, { ids: [1, { id: 2, ifMatch: '*' }] }, { registration }))).toEqual([
      'PRECONDITION_REQUIRED',
      '*',
    ])
    expect(
      codes(
        await run(
          parseBulkUpdate,
          {
            items: [
              { id: 1, data: {} },
              { id: 2, data: {}, ifMatch: '*' },
            ],
          },
          { registration },
        ),
      ),
    ).toEqual(['PRECONDITION_REQUIRED', '*'])
    expect(await run(parseBulkRestore, { deletionId: 'd' }, { registration })).toEqual(refusal('PRECONDITION_REQUIRED', ''))
    // Server utils need none.
    expect(toGroupRequest({ deletionId: 'd' }, callOf(registration))).toEqual({ bulk: true, items: [], deletionId: 'd' })
    expect(toGroupRequest({ ids: [1] }, callOf(registration))).toEqual({ bulk: true, items: [{ id: 1, key: [1] }] })
    expect(toGroupRequest({ ids: [{ id: 1, ifMatch: '*' }] }, callOf())).toEqual({ bulk: true, items: [{ id: 1, key: [1], ifMatch: '*' }] })
  })

  it('can name a cascade group in the trash', async () => {
    const group = { bulk: true, items: [], deletionId: 'd' }
    expect(await run(parseBulkRestore, { deletionId: 'd' })).toEqual(group)
    expect(await run(parseBulkDelete, { deletionId: 'd' }, { query: { force: 'true' } })).toEqual(group)
    expect(await run(parseBulkDelete, { deletionId: 'd' })).toEqual(refusal('INVALID_BODY', '`ids` is a list that is not empty.'))
    for (const body of [{ deletionId: '' }, { deletionId: 1 }, { deletionId: null }, { deletionId: 'd', ids: [1] }])
      expect(await run(parseBulkRestore, body)).toEqual(refusal('INVALID_BODY', 'The body is `{ ids }` or `{ deletionId }`.'))
    expect(await run(parseBulkRestore, { deletionId: 'a\0' })).toEqual(refusal('INVALID_VALUE', 'expected text.'))
    // Without such a column, the write finds no rows.
    expect(await run(parseBulkRestore, { deletionId: 'd' }, { registration: { schema: textKeys } })).toEqual(group)
    expect(
      await run(parseBulkRestore, { deletionId: 'd' }, { config: { bulk: { enabled: false, maxBatchSize: 100, transactional: true } } }),
    ).toEqual(refusal('INVALID_BODY', 'Bulk operations are turned off.'))
  })
})

describe('links', () => {
  const link = (body: unknown, sent: Sent = {}) =>
    outcome(() => parseLink(request({ body, id: '1', relation: 'tags', method: 'POST', ...sent }), callOf()))
  const links = (body: unknown, sent: Sent = {}) => outcome(() => parseLinks(request({ body, id: '1', method: 'PUT', ...sent }), callOf()))
  const ONE = { relation: 'tags', ids: ['1'], metadata: {}, metadataById: new Map() }

  it.each([
    ['PUT', 'replace', ['create', 'delete']],
    ['POST', 'add', ['create']],
    ['DELETE', 'remove', ['delete']],
  ])('%s: %s', async (method, mode, operations) => {
    expect(await link({ ids: [1] }, { method })).toEqual({ mode, links: [ONE], severalRelations: false, key: [1] })
    expect(linkCountsAs(request({ method }))).toEqual(operations)
  })

  it('have ids, each once, and values for all or for single ones', async () => {
    expect(await link({ ids: [1, '1', 2], metadata: { position: 1, note: 'a' }, metadataById: { 2: { position: 5 } } })).toMatchObject({
      links: [{ ids: ['1', '2'], metadata: { position: 1, note: 'a' }, metadataById: new Map([['2', { position: 5, note: 'a' }]]) }],
    })
    expect(await link({ ids: [] })).toMatchObject({ links: [{ ids: [] }] })
    expect(await links({ relations: { tags: { ids: [1] }, others: { ids: [] } } })).toEqual({
      mode: 'replace',
      severalRelations: true,
      key: [1],
      links: [ONE, { ...ONE, relation: 'others', ids: [] }],
    })
  })

  it.each<[unknown, string, string]>([
    [{}, 'INVALID_BODY', '`ids` is a list of strings or numbers.'],
    [{ ids: 1 }, 'INVALID_BODY', '`ids` is a list'],
    [{ ids: [1, null] }, 'INVALID_BODY', '`ids` is a list'],
    [{ ids: [1], meta: {} }, 'INVALID_BODY', '"meta" is not known.'],
    [{ ids: [1], metadata: [] }, 'INVALID_BODY', '`metadata` is an object.'],
    [[], 'INVALID_BODY', 'The body is not a JSON object.'],
    [{ ids: [1], metadataById: [] }, 'INVALID_BODY', '`metadataById` is an object of objects, by id.'],
    [{ ids: [1], metadataById: { 1: 5 } }, 'INVALID_BODY', '`metadataById` is an object of objects'],
    [{ ids: [1, 2], metadataById: { 1: {}, 2: 5 } }, 'INVALID_BODY', '`metadataById` is an object of objects'],
    [{ ids: [1], metadataById: { 1: {}, 2: {} } }, 'INVALID_BODY', '`metadataById` names "2", which `ids` does not.'],
    [{ ids: Array.from({ length: 101 }, (_, index) => index) }, 'LIMIT_EXCEEDED', '`ids` holds more than 100 entries.'],
  ])('are refused: %j', async (body, code, message) => {
    expect(await link(body)).toEqual(refusal(code, message))
    const inRelations = Array.isArray(body) ? '`relations`: "tags" is not an object.' : message
    if (code === 'INVALID_BODY') expect(await links({ relations: { tags: body } })).toEqual(refusal(code, inRelations))
  })

  it('can be as many as a batch, repeated ids aside', async () => {
    expect(await link({ ids: [...Array.from({ length: 100 }, (_, index) => index), 0] })).toMatchObject({ key: [1] })
  })

  it.each([{}, { relations: {} }, { relations: [] }, { relations: null }])(
    'of several relations are refused without a relation: %j',
    async (body) => {
      expect(await links(body)).toEqual(refusal('INVALID_BODY', '`relations` is an object of relations that is not empty.'))
    },
  )

  it('have no tag', async () => {
    for (const parse of [link, links])
      expect(await parse({ ids: [1] }, { ifMatch: '*' })).toEqual(refusal('INVALID_VALUE', 'The tag of a record does not cover its links.'))
    for (const parse of [link({ ids: [1] }, { id: 'x' }), links({ relations: { tags: { ids: [] } } }, { id: 'x' })])
      expect(await parse).toEqual(refusal('NOT_FOUND', ''))
  })

  it('are listed with the parameters of a list', async () => {
    const parse = (query: ApiRequest['query']) => outcome(() => parseRelated(request({ id: '1', relation: 'tags', query }), callOf()))
    expect(await parse({ limit: '3', includeMetadata: 'true' })).toMatchObject({
      key: [1],
      relation: 'tags',
      metadata: true,
      list: { limit: 3 },
    })
    expect(await parse({})).toMatchObject({ metadata: false, list: { limit: 20 } })
    expect(await parse({ includeMetadata: 'x' })).toEqual(refusal('INVALID_QUERY', '`includeMetadata` is true or false'))
  })
})

it('a key of several columns is read from the path', () => {
  expect(parseGet(request({ id: '1,2' }), callOf({ schema: sqlite.follows } as Partial<Registration>))).toMatchObject({ key: [1, 2] })
})
