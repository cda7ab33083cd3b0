/** Which writes outdate a response: those to what it was read from, and all of them if code can have read something else. */
import { describe, expect, it } from 'vitest'
import type { Api } from '../../../src/runtime/server/core/api'
import { ANY, dependenciesOf } from '../../../src/runtime/plugins/response-cache/server/dependencies'
import type { Permission, ResourceAuth } from '../../../src/runtime/server/registration'

interface Options {
  readonly auth?: Record<string, ResourceAuth>
  readonly hooks?: readonly string[]
  /** Resources with a row rule of a plugin, in SQL or in code. */
  readonly rowFilters?: readonly string[]
  readonly rowChecks?: readonly string[]
}

function apiOf({ auth = {}, hooks = [], rowFilters = [], rowChecks = [] }: Options): Api {
  const resources = new Map(['posts', 'tags'].map(name => [name, { name, auth: auth[name] }]))
  const pick = (names: readonly string[]) => new Map(names.map(name => [resources.get(name), true]))
  const find = ({ name }: { name: string }, hook: string) => hooks.includes(`${name}.${hook}`) ? [() => {}] : []
  return { resources, hooks: { find }, rowFilters: pick(rowFilters), rowChecks: pick(rowChecks) } as unknown as Api
}
const of = (options: Options, declared: Record<string, string[]> = {}, reads = ['posts', 'tags']) =>
  dependenciesOf(apiOf(options), 'posts', reads, declared)
const READS = ['posts', 'tags']
const rule = () => true

describe('a response without code', () => {
  it('depends on what it was read from', () => {
    expect([of({}), of({}, {}, ['posts']), of({}, {}, ['posts', 'table:links'])]).toEqual([READS, ['posts'], ['posts', 'table:links']])
  })

  it('depends on nothing else, if a rule is empty', () => {
    const auth = { fields: { title: undefined, text: {} } } as ResourceAuth
    expect(of({ auth: { posts: auth, tags: auth } })).toEqual(READS)
    expect(of({ auth: { posts: {}, tags: { permissions: {} } } })).toEqual(READS)
  })

  it.each<[string, Permission]>([
    ['a name', 'staff'],
    ['true', true],
    ['false', false],
    ['a list of names', ['a', 'b']],
  ])('depends on nothing else, if the permissions are %s', (_what, permission) => {
    const auth = { permissions: { read: permission }, fields: { title: { read: permission, write: rule } } } as ResourceAuth
    expect(of({ auth: { posts: auth, tags: auth } })).toEqual(READS)
  })
})

describe('a response with code', () => {
  it.each<[string, Options]>([
    ['a `listFilter`', { auth: { posts: { listFilter: () => undefined } as ResourceAuth } }],
    ['a `listFilter` of another resource', { auth: { tags: { listFilter: () => undefined } as ResourceAuth } }],
    ['`objectLevel`', { auth: { tags: { objectLevel: rule } as ResourceAuth } }],
    ['a row rule of a plugin', { rowFilters: ['tags'] }],
    ['a row check of a plugin', { rowChecks: ['posts'] }],
    ['a rule of a field', { auth: { posts: { fields: { title: { read: rule }, text: {} } } as ResourceAuth } }],
    [
      'a rule of a field for an evaluator',
      { auth: { posts: { fields: { text: { read: 'a' }, title: { read: { plan: 'pro' } } } } as ResourceAuth } },
    ],
    ['a rule of a field in a list', { auth: { posts: { fields: { title: { read: ['a', rule] } } } as ResourceAuth } }],
    ['the permission of an included resource', { auth: { tags: { permissions: { read: rule } } } }],
  ])('depends on everything: %s', (_what, options) => {
    expect(of(options)).toEqual([ANY])
  })

  it('does not depend on the permission of its own resource, which is checked each time', () => {
    expect(of({ auth: { posts: { permissions: { read: rule } } } })).toEqual(READS)
  })

  it('depends on what the app declares for the resource', () => {
    const auth = { posts: { listFilter: () => undefined } as ResourceAuth }
    expect(of({ auth }, { posts: [] })).toEqual(READS)
    expect(of({ auth }, { posts: ['members', 'tags'] })).toEqual(['posts', 'tags', 'members'])
    expect(of({ auth }, { tags: [] })).toEqual([ANY])
    expect(of({ auth: { ...auth, tags: auth.posts } }, { posts: [] })).toEqual([ANY])
    // A name of every object is no declaration.
    expect(of({}, {}, ['posts', 'toString'])).toEqual(['posts', 'toString'])
  })
})

describe('a response with hooks', () => {
  it.each(['beforeGet', 'afterGet', 'beforeList', 'afterList'])('is not stored: %s', (hook) => {
    expect(of({ hooks: [`posts.${hook}`] })).toBeUndefined()
    expect(of({ hooks: [`posts.${hook}`] }, { posts: ['tags'] })).toEqual(READS)
    // Hooks of included resources do not run.
    expect(of({ hooks: [`tags.${hook}`] })).toEqual(READS)
  })

  it('is stored with hooks of writes', () => {
    expect(of({ hooks: ['posts.beforeUpdate', 'posts.afterCreate'] })).toEqual(READS)
  })
})
