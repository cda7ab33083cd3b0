/** What the key of a request contains, and which requests have none. */
import { describe, expect, it } from 'vitest'
import { setLimits, type CredentialLimits } from '../../../src/runtime/server/core/request/limits'
import { isWatched, keyOf, totalKeyOf, toVary } from '../../../src/runtime/plugins/response-cache/server/key'
import type { AutoApiContext } from '../../../src/runtime/server/registration'

const CONTEXT = {
  user: { id: 1 },
  permissions: ['a'],
  tenant: 't',
  credential: undefined,
  event: {},
  resource: 'posts',
  operation: 'read',
  params: { id: '1' },
  query: { sort: 'a', limit: '1' },
  dryRun: false,
  body: undefined,
  db: {},
}
const ctxOf = (changes: object = {}) => ({ ...CONTEXT, ...changes }) as unknown as AutoApiContext
const NOTHING = toVary([])
const STATEMENT = { text: 'select 1', values: [1] }
const of = (changes: object = {}, route = 'get', vary = NOTHING, build: unknown = 'b') => keyOf(ctxOf(changes), route, vary, build)
const totalOf = (changes: object = {}, { text, values } = STATEMENT, vary = NOTHING, build: unknown = 'b') =>
  totalKeyOf(ctxOf(changes), vary, build, { text, values })

function limited(limits: CredentialLimits): AutoApiContext {
  const ctx = ctxOf()
  setLimits(ctx, limits)
  return ctx
}
const owner = { user: { id: 1 }, permissions: ['a'] }
const limitsOf = (changes: Partial<CredentialLimits> = {}): CredentialLimits => ({ owner, excluded: new Set<string>(), ...changes })

const CALLERS: readonly [what: string, changes: object][] = [
  ['user', { user: { id: 2 } }], ['no user', { user: null }], ['permissions', { permissions: ['b'] }], ['tenant', { tenant: 'u' }],
  ['credential', { credential: { id: 1 } }],
]

describe('two requests have the same key', () => {
  it('if they are equal, whatever objects they consist of', () => {
    expect(of(structuredClone(CONTEXT))).toBe(of())
    expect(totalOf(structuredClone(CONTEXT))).toBe(totalOf())
  })

  it('if they differ in the order of the parameters, the event, the database or the body', () => {
    expect(of({ query: { limit: '1', sort: 'a' } })).toBe(of())
    for (const changes of [{ event: { a: 1 } }, { db: { a: 1 } }, { body: { a: 1 } }]) {
      expect(of(changes)).toBe(of())
      expect(totalOf(changes)).toBe(totalOf())
    }
  })
})

describe('two requests have different keys', () => {
  it.each(CALLERS)('if they differ in the caller: %s', (_what, changes) => {
    expect(of(changes)).not.toBe(of())
    expect(totalOf(changes)).not.toBe(totalOf())
  })

  it.each<[string, object]>([
    ['the resource', { resource: 'tags' }],
    ['the operation', { operation: 'aggregate' }],
    ['a parameter of the path', { params: { id: '2' } }],
    ['a value of the query', { query: { sort: 'b', limit: '1' } }],
    ['a name of the query', { query: { sorts: 'a', limit: '1' } }],
    ['the number of parameters', { query: { sort: 'a' } }],
  ])('if they differ in %s', (_what, changes) => {
    expect(of(changes)).not.toBe(of())
    // The statement of a total contains what matters of them.
    expect(totalOf(changes)).toBe(totalOf())
  })

  it('if they differ in the route or the build', () => {
    expect(of({}, 'list')).not.toBe(of())
    expect(of({}, 'get', NOTHING, 'c')).not.toBe(of())
    expect(totalOf({}, STATEMENT, NOTHING, 'c')).not.toBe(totalOf())
  })

  it('for totals, if they differ in the statement or its values', () => {
    const keys = [totalOf(), totalOf({}, { text: 'select 2', values: [1] }), totalOf({}, { text: 'select 1', values: [2] }),
      totalOf({}, { text: 'select 1', values: [1, 1] }), totalOf({}, { text: 'select 1', values: [] }), of()]
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('if their values are long', () => {
    const user = (id: number) => ({ user: { id, name: 'x'.repeat(2_000) } })
    expect(of(user(1))).not.toBe(of(user(2)))
    expect(of(user(1))).toBe(of(user(1)))
  })
})

describe('a key', () => {
  it('of more than 1024 characters is hashed', () => {
    const { length } = of({ user: { name: '' } })!
    expect(of({ user: { name: 'x'.repeat(1_024 - length) } })).toHaveLength(1_024)
    expect(of({ user: { name: 'x'.repeat(1_025 - length) } })!.length).toBeLessThan(100)
  })

  it('contains the parts that `vary` names, even those that are missing', () => {
    const vary = toVary(['plan.name', 'region'])
    const key = (changes: object) => of(changes, 'get', vary)
    const total = (changes: object) => totalOf(changes, STATEMENT, vary)
    for (const find of [key, total]) {
      const contexts = [
        {}, { plan: { name: 'pro' } }, { plan: { name: 'free' } }, { plan: { name: null } }, { region: 'pro' },
        { plan: { name: 'pro' }, region: 'eu' },
      ]
      expect(new Set(contexts.map(find)).size).toBe(contexts.length)
      // What `vary` does not name has no effect.
      expect(find({ plan: { name: 'pro', seen: 1 } })).toBe(find({ plan: { name: 'pro', seen: 2 } }))
      for (const plan of [null, undefined, {}, 5]) expect(find({ plan })).toBe(find({}))
    }
  })

  it('contains the limits of a credential', () => {
    const limits = [
      limitsOf(), limitsOf({ scopes: new Set() }), limitsOf({ scopes: new Set(['posts:read']) }), limitsOf({ excluded: new Set(['tags']) }),
      limitsOf({ excluded: new Set(['tags', 'posts']) }), limitsOf({ owner: { ...owner, user: { id: 2 } } }),
      limitsOf({ owner: { ...owner, user: null } }), limitsOf({ owner: { ...owner, permissions: ['b'] } }),
    ]
    for (const find of [
      (ctx: AutoApiContext) => keyOf(ctx, 'get', NOTHING, 'b'),
      (ctx: AutoApiContext) => totalKeyOf(ctx, NOTHING, 'b', STATEMENT),
    ]) {
      const keys = [ctxOf(), ...limits.map(limited)].map(find)
      expect(keys).not.toContain(undefined)
      expect(new Set(keys).size).toBe(limits.length + 1)
      expect(limits.map(limited).map(find)).toEqual(keys.slice(1))
    }
  })
})

describe('a request has no key', () => {
  it.each<[string, object]>([
    ['a key', { plan: 'pro' }], ['a key without a value', { plan: undefined }], ['a symbol', { [Symbol('plan')]: 'pro' }],
    ['a symbol without a value', { [Symbol('plan')]: undefined }], ['a hidden key', Object.defineProperty({}, 'plan', { value: 1 })],
  ])('if its context has %s that `vary` does not name', (_what, own) => {
    const withOwn = (ctx: object) => Object.defineProperties(ctx, Object.getOwnPropertyDescriptors(own)) as AutoApiContext
    expect(keyOf(withOwn(ctxOf()), 'get', NOTHING, 'b')).toBeUndefined()
    expect(keyOf(withOwn(ctxOf({ region: 'eu' })), 'get', toVary(['region']), 'b')).toBeUndefined()
    expect(keyOf(withOwn(limited(limitsOf())), 'get', NOTHING, 'b')).toBeUndefined()
  })

  it('if a key of its context refers to the limits of the credential', () => {
    const limits = limitsOf()
    expect(keyOf(Object.assign(limited(limits), { plan: limits }), 'get', NOTHING, 'b')).toBeUndefined()
  })

  it.each<[string, unknown]>([
    [
      'a class',
      new (class {
        id = 1
      })(),
    ],
    ['a function', { can: () => true }],
  ])('if its user contains %s', (_what, user) => {
    expect([of({ user }), totalOf({ user })]).toEqual([undefined, undefined])
  })

  it('for a total, if a value of the statement is not plain', () => {
    expect(totalOf({}, { text: 'select 1', values: [new Uint8Array(1)] as never })).toBeUndefined()
  })
})

it('an error of a value is not hidden', () => {
  const user = Object.defineProperty({}, 'id', { enumerable: true, get: () => {
    throw new RangeError('broken')
  } })
  expect(() => of({ user })).toThrow(new RangeError('broken'))
})

describe('the metadata of a request', () => {
  it('are not part of its key, unless `vary` names them', () => {
    expect(of({ metadata: { ip: '1' } })).toBe(of())
    const vary = toVary(['metadata.ip'])
    expect(of({ metadata: { ip: '1' } }, 'get', vary)).not.toBe(of({ metadata: { ip: '2' } }, 'get', vary))
  })

  it('are watched if the context has them, and `vary` does not name them', () => {
    const metadata = { metadata: { ip: '1' } }
    expect([isWatched(ctxOf(), NOTHING), isWatched(ctxOf(metadata), NOTHING)]).toEqual([false, true])
    expect(isWatched(Object.create(ctxOf(metadata)) as AutoApiContext, NOTHING)).toBe(true)
    expect([['metadata'], ['metadata.ip'], ['plan']].map(vary => isWatched(ctxOf(metadata), toVary(vary)))).toEqual([false, false, true])
  })
})
