/** Computed fields: what differs from columns. That they read like columns is shown by random queries over twins of columns. */
import { eq, sql, type SQL } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { afterEach, expect, it, vi } from 'vitest'
import { dataExport, openApi, responseCache } from '../../../src/runtime/plugins'
import { computed, type ComputedTools } from '../../../src/runtime/server/computed'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { ADA, authors, openStats, posts, type Stats } from '../views/stats'
import { outcome } from '../write/world'

let stats: Stats
afterEach(() => {
  stats?.close()
  vi.restoreAllMocks()
})

type Posts = typeof posts

const length = computed.integer((t: Posts) => sql`length(${t.title})`)
const now = computed.boolean((t: Posts) => sql`${t.publishedAt} < unixepoch() * 1000`, { volatile: true })
const heavy = computed.text((t: Posts) => sql`upper(${t.title})`, { lazy: true })
const byAuthor = (t: Posts, { scope }: ComputedTools) =>
  sql`(select ${authors.name} from ${authors} where ${authors.id} = ${t.authorId} and ${scope('authors', authors)})`

type Computed = Readonly<Record<string, { readonly type: string, readonly expression: unknown, readonly options: object }>>

const withComputed = (fields: Computed, more: Partial<ResourceRegistration> = {}) =>
  ({ computed: fields as unknown as ResourceRegistration['computed'], ...more })

const read = async (path: string, caller = ADA) => {
  const { status, body } = await stats.send('GET', path, undefined, caller)
  expect([status, JSON.stringify(body)]).toEqual([200, expect.anything()])
  return body
}

it('are in every response that has the record, and in no row', async () => {
  stats = await openStats({ posts: withComputed({ length }) })
  expect(await read('posts/1')).toMatchObject({ title: 'one', length: 3 })
  expect((await read('posts?sort=-length&fields=length')).data).toEqual([{ length: 5 }, { length: 4 }, { length: 3 }, { length: 3 }])
  expect((await stats.send('POST', 'posts', { title: 'brand new', views: 0, authorId: 1, length: 99 })).body).toMatchObject({ length: 9 })
  expect((await stats.send('PATCH', 'posts/1', { title: 'longer', length: 1 })).body).toMatchObject({ length: 6 })
  expect((await stats.send('POST', 'posts/bulk', { items: [{ title: 'x', views: 0, authorId: 1, length: 5 }] })).body.data[0])
    .toMatchObject({ length: 1 })
  expect(outcome(await stats.send('PATCH', 'posts/1', { lenght: 1 }))).toBe('400 VALIDATION_FAILED')
})

it('drop what a hook or a schema of the app gives them', async () => {
  const hooks = {
    beforeCreate: (data: object) => ({ ...data, length: 7 }), beforeUpdate: (_id: unknown, data: object) => ({ ...data, length: 7 }),
  }
  stats = await openStats({ posts: withComputed({ length }, { hooks }) })
  expect((await stats.send('POST', 'posts', { title: 'new', views: 0, authorId: 1 })).body).toMatchObject({ length: 3 })
  expect((await stats.send('PATCH', 'posts/1', { title: 'changed' })).body).toMatchObject({ length: 7 === 'changed'.length ? 7 : 0 })
})

it('are read by rules and hidden like columns', async () => {
  const authorization = { permissions: { read: true }, fields: { length: { read: 'lengths' } } } as never
  stats = await openStats({ posts: withComputed({ length, secret: computed.text(sql`'s'`) }, { authorization, hiddenFields: ['secret'] }) })
  const allowed = { ...ADA, permissions: ['lengths'] }
  expect(await read('posts/1')).not.toHaveProperty('length')
  expect(await read('posts/1', allowed)).toMatchObject({ length: 3 })
  expect(await read('posts/1', allowed)).not.toHaveProperty('secret')
  for (const path of ['posts?sort=length', 'posts?filter={"length":3}', 'posts/aggregate?aggregate=max(length)', 'posts?fields=secret'])
    expect(outcome(await stats.send('GET', path)), path).toBe('400 UNKNOWN_FIELD')
})

it('that are lazy are selected only by name', async () => {
  stats = await openStats({ posts: withComputed({ heavy }) })
  expect(await read('posts/1')).not.toHaveProperty('heavy')
  expect((await read('posts?limit=1')).data[0]).not.toHaveProperty('heavy')
  expect((await stats.send('PATCH', 'posts/1', { title: 'two' })).body).not.toHaveProperty('heavy')
  expect((await read('posts?fields=id,heavy&filter={"heavy":"TWO"}&sort=heavy')).data).toEqual([{ id: 1, heavy: 'TWO' }, { id: 2, heavy: 'TWO' }])
  expect((await read('authors/1?include=posts[id,heavy]')).posts).toEqual([{ id: 1, heavy: 'TWO' }, { id: 2, heavy: 'TWO' }])
})

it('are described as read-only, and lazy ones as not in every response', async () => {
  stats = await openStats({ posts: withComputed({ length, heavy }) }, { plugins: [openApi({ access: true })] })
  const { fields, validation } = (await read('_schema')).resources.posts
  const readOnly = { readable: true, writable: { create: false, update: false }, required: false, nullable: true, sortable: true }
  expect(fields.length).toMatchObject({ kind: 'integer', aggregates: ['count', 'sum', 'avg', 'min', 'max'], ...readOnly })
  expect(fields.length).not.toHaveProperty('lazy')
  expect(fields.heavy).toMatchObject({ kind: 'text', lazy: true, ...readOnly })
  for (const schema of [validation.create, validation.update])
    expect(Object.keys(schema.properties)).toEqual(expect.not.arrayContaining(['length', 'heavy']))
  const { schemas } = (await read('_openapi.json')).components
  expect(Object.keys(schemas.posts.properties)).toEqual(expect.arrayContaining(['length', 'heavy']))
  expect(schemas.posts.required).toContain('length')
  expect(schemas.posts.required).not.toContain('heavy')
})

it('over another resource have the values of the rows that the caller can read', async () => {
  const listFilter = (table: typeof authors, ctx: { user: { organizationId?: number } | null }) =>
    eq(table.organizationId, ctx.user?.organizationId ?? 0)
  const fields = withComputed({ author: computed.text(byAuthor) })
  const observe = async (caller = ADA) => ({
    values: (await read('posts?sort=id&fields=author', caller)).data.map(({ author }: { author: string }) => author),
    sorted: (await read('posts?sort=-author,id&fields=id', caller)).data.map(({ id }: { id: number }) => id),
    found: (await read('posts?filter={"author":"Cleo"}&fields=id', caller)).data.map(({ id }: { id: number }) => id),
    groups: (await read('posts/aggregate?groupBy=author&aggregate=count&sort=-count,author', caller)).data
      .map(({ group, count }: { group: { author: string }, count: number }) => [group.author, count]),
  })
  const SEEN = {
    values: ['Ada', 'Ada', 'Bea', null], sorted: [3, 1, 2, 4], found: [], groups: [['Ada', 2], [null, 1], ['Bea', 1]],
  }
  stats = await openStats({ posts: fields, authors: { authorization: { permissions: { read: true }, listFilter: listFilter as never } } })
  expect(await observe()).toEqual(SEEN)
  expect((await observe({ user: { id: 3, organizationId: 2 } })).values).toEqual([null, null, null, 'Cleo'])
  stats.close()

  const multiTenancy = { ...DEFAULT_MULTI_TENANCY, excludedResources: ['posts', 'postList', 'writingDays'] }
  stats = await openStats({ posts: fields }, { config: { multiTenancy } })
  expect(await observe()).toEqual(SEEN)
  stats.close()

  // Nobody but the staff can read authors.
  stats = await openStats({ posts: fields, authors: { authorization: { permissions: { read: 'staff' } } } })
  expect((await observe()).values).toEqual([null, null, null, null])
  expect((await observe({ ...ADA, permissions: ['staff'] })).values).toEqual(['Ada', 'Ada', 'Bea', 'Cleo'])
})

it('leave the trash of another resource out', async () => {
  const other = alias(posts, 'other')
  const count = (t: typeof authors, { scope }: ComputedTools): SQL =>
    sql`(select count(*) from ${posts} as ${other} where ${other.authorId} = ${t.id} and ${scope('posts', other)})`
  stats = await openStats({ authors: withComputed({ count: computed.integer(count as never, { tracks: ['posts'] }) }) })
  expect((await read('authors?sort=id&fields=count')).data).toEqual([{ count: 2 }, { count: 1 }, { count: 1 }, { count: 0 }])
  // A computed field of a related row.
  expect((await read('posts?sort=-author.count,id&fields=id')).data).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }])
  expect((await read('posts?filter={"author":{"count":{"$gt":1}}}&fields=id')).data).toEqual([{ id: 1 }, { id: 2 }])
  expect((await read('posts/1?include=author[count]')).author).toEqual({ count: 2 })
})

it('count for tags if a write to the row or to a tracked resource changes them', async () => {
  stats = await openStats({ posts: withComputed({ length, untracked: computed.text(byAuthor), tracked: computed.text(byAuthor, { tracks: ['authors'] }) }) })
  const tagOf = async (path = 'posts/1') => (await stats.send('GET', path)).headers.get('etag')!
  const before = await tagOf()
  await stats.send('PATCH', 'authors/1', { name: 'Ada L.' })
  expect(await tagOf()).not.toBe(before)
  stats.close()

  stats = await openStats({ posts: withComputed({ untracked: computed.text(byAuthor), now }) })
  const [revision, body] = (await tagOf()).split('.') as [string, string]
  await stats.send('PATCH', 'authors/1', { name: 'Ada L.' })
  const [sameRevision, otherBody] = (await tagOf()).split('.') as [string, string]
  expect([sameRevision, otherBody === body]).toEqual([revision, false])
})

it('that are volatile have no cursors and cannot sort an export', async () => {
  stats = await openStats({ posts: withComputed({ now }) }, { plugins: [dataExport()] })
  expect((await read('posts?sort=-now,id&fields=id')).data).toHaveLength(4)
  const refused = await stats.send('GET', 'posts?sort=now&cursor=')
  expect(outcome(refused)).toBe('400 INVALID_QUERY')
  expect(refused.body.message).toContain('changes over time, so rows cannot be read in parts. Use `page`.')
  expect((await stats.send('GET', 'posts/export?format=json&sort=now')).status).not.toBe(200)
})

it('are stored by the response cache only if every change is reported to it', async () => {
  const states = async (fields: Computed, change: () => Promise<unknown> = async () => {}, path = 'posts?sort=id') => {
    stats = await openStats({ posts: withComputed(fields) }, { plugins: [responseCache({ ttl: 60 })] })
    const state = async () => (await stats.send('GET', path)).headers.get('cache-status')
    const seen = [await state(), await state()]
    await change()
    seen.push(await state())
    stats.close()
    return seen
  }
  const rename = () => stats.send('PATCH', 'authors/1', { name: 'Ada L.' })
  const tracked = computed.text(byAuthor, { tracks: ['authors'] })
  const untracked = computed.text(byAuthor)
  const cached = await states({ length })
  expect(cached[0]).not.toBe(cached[1])
  expect(await states({ length }, rename)).toEqual([cached[0], cached[1], cached[1]])
  expect(await states({ tracked }, rename)).toEqual([cached[0], cached[1], cached[0]])
  for (const fields of [{ untracked }, { now }] as Computed[]) expect(new Set(await states(fields)).size).toBe(1)
  // Also if only a filter or an order uses it.
  for (const query of ['posts?fields=id&sort=untracked', 'posts?fields=id&filter={"untracked":"Ada"}'])
    expect(new Set(await states({ untracked }, undefined, query)).size, query).toBe(1)
  expect(await states({ untracked }, undefined, 'posts?fields=id')).toEqual(cached)
})

it.each<[string, Computed, string, Partial<ResourceRegistration>?]>([
  ['no result of a function', { a: 'length(title)' as never }, '`posts.computed.a`: it is not the result of a function of `computed`'],
  ['no SQL', { a: computed.text('title' as never) }, '`posts.computed.a`: its expression is not SQL'],
  ['the name of a column', { title: computed.text(sql`1`) }, '`posts.computed.title`: table "posts" has a column of this name'],
  ['the name of the counts', { _count: computed.text(sql`1`) }, '`posts.computed._count`: responses contain relation counts'],
  ['an unknown option', { a: computed.text(sql`1`, { lasy: true } as never) }, '`lasy` is not an option of a computed field. Did you mean `lazy`?'],
  ['a wrong option', { a: computed.text(sql`1`, { lazy: 1 } as never) }, '`lazy` is not `true` or `false`'],
  ['volatile and tracks', { a: computed.text(sql`1`, { volatile: true, tracks: ['posts'] }) }, '`tracks` has no effect on a volatile field'],
  ['unknown tracks', { a: computed.text(sql`1`, { tracks: ['post'] }) }, '`posts.computed.a.tracks` names `post`, which is not a registered resource'],
  ['a date', { a: computed.text(sql`${new Date(0)}`) }, '`posts.computed.a`: a value in its SQL is neither text nor a number nor a boolean'],
  ['another kind', { a: computed.text(sql`${posts.views}`.mapWith(posts.views)) }, 'its values have the kind `integer` because of `.mapWith()`'],
  ['an unknown scope', { a: computed.text((_: Posts, { scope }) => sql`${scope('author', authors)}`) }, 'the function `scope` names `author`, which is not a registered resource'],
  ['a scope of another table', { a: computed.text((_: Posts, { scope }) => sql`${scope('authors', posts)}`) }, 'with a table that is not that of the resource'],
  ['a rule for writes', { a: computed.text(sql`1`) }, '`posts.authorization.fields.a.write` has no effect, because a computed field is read-only', { authorization: { fields: { a: { write: 'x' } } } as never }],
  ['a protected field', { a: computed.text(sql`1`) }, '`posts.protectedFields` names `a`, which is not a column', { protectedFields: ['a'] }],
])('stop the start: %s', async (_, fields, message, more) => {
  await expect(openStats({ posts: withComputed(fields, more) })).rejects.toThrow(message)
})

it('stop the start if a row scope would leave out a rule in code', async () => {
  const authorization = { permissions: { read: true }, objectLevel: () => true }
  const opening = openStats({ posts: withComputed({ author: computed.text(byAuthor) }), authors: { authorization } })
  await expect(opening).rejects.toThrow('`authors`, whose rule `objectLevel` SQL cannot express')
})

it('warn of a subquery without a row scope', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const names = ['inTable', 'inText', 'scoped']
  stats = await openStats({ posts: withComputed({
    inTable: computed.text(t => sql`(select ${authors.name} from ${authors} where ${authors.id} = ${(t as Posts).authorId})`),
    inText: computed.integer(sql`(select count(*) from authors)`),
    scoped: computed.text(byAuthor),
  }) })
  const warned = warn.mock.calls.map(([message]) => names.find(name => String(message).includes(`posts.computed.${name}`)))
  expect(warned).toEqual(['inTable', 'inText'])
  expect(warn.mock.calls[0]![0]).toContain('without the row scope of `authors`')
})
