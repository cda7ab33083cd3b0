/** `expectAccess`: the matrix of a small app, and every mistake in its rules that the matrix shows. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ROUTES } from '../../../src/runtime/shared/routes'
import { expectAccess, expectEveryResource } from '../../../src/runtime/testing'
import { PROBES, PROBES_OF_ROUTES, RELATION_PROBES } from '../../../src/runtime/testing/access/probes'
import { MISTAKES, openNewsroom, ROWS, type Mistake } from './newsroom'

const fileOf = (name: string) => fileURLToPath(new URL(`./access/${name}.md`, import.meta.url))
const CALLERS = ['anonymous', 'author', 'token'] as const
const PUBLISH = { 'POST /posts/:id/publish': true } as const
const NAMES = Object.keys(ROWS) as (keyof typeof ROWS)[]

type Api = Awaited<ReturnType<typeof openNewsroom>>['api']

const ofResource = (api: Api, name: keyof typeof ROWS) =>
  expectAccess(api, name).as(CALLERS).rows(ROWS[name]).requests(name === 'posts' ? PUBLISH : {})
const ofApp = (api: Api) => expectAccess(api).as(['anonymous', 'author']).rows(ROWS).requests(PUBLISH)
const messageOf = (run: Promise<unknown>) => run.then(() => '', (error: Error) => error.message)

let api: Api
let dump: () => unknown
beforeAll(async () => {
  ({ api, dump } = await openNewsroom())
})

describe('the matrix of an app', () => {
  it.each(NAMES)('is the one of the file: %s', async (name) => {
    await ofResource(api, name).toMatchMatrix(fileOf(name))
  })

  it('contains all resources and the routes without a resource', async () => {
    await ofApp(api).toMatchMatrix(fileOf('all'))
  })

  it('leaves the rows as they are', async () => {
    const before = dump()
    await ofResource(api, 'comments').toMarkdown()
    await ofResource(api, 'postTags').toMarkdown()
    await ofResource(api, 'posts').toMarkdown()
    expect(dump()).toEqual(before)
  })

  it('is accepted as text', async () => {
    await ofResource(api, 'tags').toMatchMatrix(readFileSync(fileOf('tags'), 'utf8'))
  })
})

describe('a mistake in the rules turns the matrix red:', () => {
  it.each(Object.entries(MISTAKES) as [Mistake, keyof typeof ROWS | undefined][])('%s', async (mistake, name) => {
    const { api: wrong } = await openNewsroom(mistake)
    const message = await messageOf(name ? ofResource(wrong, name).toMatchMatrix(fileOf(name)) : ofApp(wrong).toMatchMatrix(fileOf('all')))
    expect(message).toMatch(/The access matrix (?:has changed|does not list)/)
  })

  it('and the message names the cells', async () => {
    const { api: wrong } = await openNewsroom('purge falls back to delete')
    const message = await messageOf(ofResource(wrong, 'posts').toMatchMatrix(fileOf('posts')))
    expect(message.split('\n').slice(1)).toEqual([
      '- posts: "purge: published" for author was 403, is yes.',
      '- posts: "purge: ofAnna" for author was 403, is yes.',
      '- posts: "purge: ofEdgar" for author was 403, is 404.',
      '- posts: "purge: otherTenant" for author was 403, is 404.',
      '- posts: "purge: trashed" for author was 403, is yes.',
      '- posts: "purge: embargoed" for author was 403, is 404.',
      '- posts: "purge: byEdgar" for author was 403, is 404.',
    ])
  })
})

describe('nothing can be forgotten', () => {
  it('refuses a matrix without a resource of the app', async () => {
    const { tags: _, users: __, ...rows } = ROWS
    expect(await messageOf(expectAccess(api).rows(rows).toMarkdown())).toBe(
      '[auto-api] The access matrix does not list `tags`, `users`. Name rows of each resource in `rows`, or write `false` to leave it out.',
    )
  })

  it('refuses a matrix without an endpoint that could write', async () => {
    expect(await messageOf(expectAccess(api, 'posts').rows(ROWS.posts).toMarkdown()))
      .toContain('The endpoint `POST /posts/:id/publish` is not listed. Add `requests({ \'POST /posts/:id/publish\': { body } })`')
  })

  it('names the resources without a matrix', async () => {
    const { api: other } = await openNewsroom()
    await ofResource(other, 'tags').toMatchMatrix(fileOf('tags'))
    expect(await messageOf(expectEveryResource(other))).toBe(
      '[auto-api] No access matrix was compared for `apiTokens`, `comments`, `postTags`, `posts`, `users`. Add `expectAccess(api, name)`.',
    )
    await ofApp(other).toMatchMatrix(fileOf('all'))
    await expectEveryResource(other)
  })

  it('has a request for every generated route about rows', () => {
    const probes = { ...PROBES, ...RELATION_PROBES }
    for (const { name } of ROUTES)
      for (const probe of PROBES_OF_ROUTES[name]) expect(probes[probe].routes as readonly string[]).toContain(name)
    expect(ROUTES.filter(({ name }) => PROBES_OF_ROUTES[name].length === 0).every(({ operation }) => operation === null)).toBe(true)
  })
})

describe('mistakes of a test', () => {
  it.each([
    ['an unknown resource', () => expectAccess(api, 'post').rows({ own: 1 }), 'The API has no resource `post`. Did you mean `posts`?'],
    ['no rows', () => expectAccess(api, 'tags'), '`tags` has no rows. Name at least one: `rows({ own: 1 })`.'],
    [
      'a request that is none',
      () => expectAccess(api, 'posts').rows(ROWS.posts).requests({ publish: true }),
      'requests(): `publish` is no request.',
    ],
    [
      'an unknown caller',
      () =>
        expectAccess(api, 'tags')
          .as(['bob' as 'author'])
          .rows(ROWS.tags),
      'There is no caller `bob`. The callers are: anonymous, reader,',
    ],
  ])('are explained: %s', async (_, expectation, message) => {
    expect(await messageOf(expectation().toMarkdown())).toContain(`[auto-api] ${message}`)
  })

  it('a failure of the server is not a cell', async () => {
    const { api: broken, client } = await openNewsroom()
    client.exec('pragma foreign_keys = off; drop table tags')
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await messageOf(ofResource(broken, 'tags').toMarkdown())).toMatch(
      /tags: "list: news" for anonymous failed with 500\. The log has the cause\./,
    )
    log.mockRestore()
  })
})

describe('the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'access-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tags.md')

  it('is required, and the message says how to write it', async () => {
    expect(await messageOf(ofResource(api, 'tags').toMatchMatrix(file))).toMatch(
      /tags\.md`, the access matrix, does not exist\. .*`UPDATE_MATRIX=1`/,
    )
  })

  it('is written with the option `update`, and with the environment variable', async () => {
    await ofResource(api, 'tags').toMatchMatrix(file, { update: true })
    expect(readFileSync(file, 'utf8')).toBe(readFileSync(fileOf('tags'), 'utf8'))
    rmSync(file)
    vi.stubEnv('UPDATE_MATRIX', '1')
    await ofResource(api, 'tags').toMatchMatrix(file)
    vi.unstubAllEnvs()
    await ofResource(api, 'tags').toMatchMatrix(file)
  })
})
