/** Several operations of one request, the context that rules receive, and what a credential with scopes can do. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  authorize,
  authorizeAny,
  authorizeGate,
  can,
  contextFor,
  decide,
  isAuthorized,
} from '../../../../../src/runtime/server/core/access/authorize'
import { setLimits } from '../../../../../src/runtime/server/core/request/limits'
import type { Call } from '../../../../../src/runtime/server/core/request/session'
import type { AutoApiContext, AutoApiUser, Permission, ResourceAuth } from '../../../../../src/runtime/server/registration'
import type { Operation } from '../../../../../src/runtime/shared/operations'
import { resourceOf, resourcesOf, sqlite, tenancy } from '../../../../support/tables'

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))
afterEach(() => void vi.restoreAllMocks())

type Permissions = NonNullable<ResourceAuth['permissions']>
interface Evaluator { readonly claims: (value: unknown) => boolean, readonly evaluate: (value: unknown, ctx: AutoApiContext) => unknown }

/** A call of a caller on `it`: the sample posts, with or without a tenant. */
function callOf(permissions: Permissions, ctx: object = {}, { config = {}, evaluators = [] as Evaluator[] } = {}): Call {
  const resource = resourceOf({ schema: sqlite.posts, authorization: { permissions } }, config)
  const context = { user: { id: 1 }, permissions: [], resource: 'it', operation: 'read', event: {}, ...ctx } as unknown as AutoApiContext
  return { api: { evaluators }, ctx: context, resource, memo: new Map() } as unknown as Call
}
const codeOf = async (run: () => unknown) => {
  try {
    await run()
    return 'passes'
  }
  catch (error) {
    return (error as { data: { code: string } }).data.code
  }
}

/** Rules that data decides, and the same rules in code. */
const FORMS: readonly [form: string, rule: (allowed: boolean) => Permission][] = [
  ['data', allowed => allowed],
  ['code', allowed => async () => allowed],
]

describe.each(FORMS)('operations whose rules are %s', (_form, rule) => {
  const OPERATIONS: readonly Operation[] = ['read', 'aggregate', 'viewDeleted']

  it('pass only together', async () => {
    const allowed = (...refused: Operation[]) =>
      Object.fromEntries(OPERATIONS.map(operation => [operation, rule(!refused.includes(operation))]))
    const run = (...refused: Operation[]) =>
      codeOf(
        () =>
          authorize(callOf(allowed(...refused)), callOf({}).resource, [])
          ?? authorize(callOf(allowed(...refused)), callOf(allowed(...refused)).resource, OPERATIONS),
      )
    expect(await run()).toBe('passes')
    for (const operation of OPERATIONS) expect([operation, await run(operation)]).toEqual([operation, 'FORBIDDEN'])
  })

  it('pass if any of them is enough', async () => {
    const run = (read: boolean, update: boolean) =>
      codeOf(() => authorizeAny(callOf({ read: rule(read), update: rule(update) }), ['read', 'update']))
    expect([await run(true, true), await run(true, false), await run(false, true), await run(false, false)]).toEqual([
      'passes',
      'passes',
      'passes',
      'FORBIDDEN',
    ])
    expect(await codeOf(() => authorizeAny(callOf({ read: rule(true) }), []))).toBe('FORBIDDEN')
  })

  it('need a tenant besides', async () => {
    const open = (tenant?: object) => callOf({ read: rule(true) }, { tenant }, { config: tenancy() })
    for (const run of [(call: Call) => authorize(call, call.resource, ['read']), (call: Call) => authorizeAny(call, ['read'])]) {
      expect(await codeOf(() => run(open({ id: 1 })))).toBe('passes')
      expect(await codeOf(() => run(open()))).toBe('TENANT_REQUIRED')
    }
  })

  it('are refused to anonymous callers with another code', async () => {
    const call = callOf({ read: rule(false) }, { user: null })
    expect(await codeOf(() => authorize(call, call.resource, ['read']))).toBe('UNAUTHENTICATED')
    expect(await codeOf(() => authorizeAny(call, ['read']))).toBe('UNAUTHENTICATED')
  })
})

describe('a caller', () => {
  const all: Permissions = { read: true, create: true, update: true, delete: false }
  const answers = async (tenant: object | undefined) => {
    const call = callOf(all, { tenant }, { config: tenancy() })
    return Promise.all((['read', 'create', 'update', 'delete'] as const).map(operation => isAuthorized(call, call.resource, operation)))
  }

  it('of a tenant can do what its permissions allow', async () => {
    expect(await answers({ id: 1 })).toEqual([true, true, true, false])
  })

  it('without a tenant can do nothing', async () => {
    expect(await answers(undefined)).toEqual([false, false, false, false])
  })

  it('of all tenants cannot create, because a new row needs one', async () => {
    expect(await answers({ id: null, canAccessAllTenants: true })).toEqual([true, false, true, false])
    expect(await answers({ id: 1, canAccessAllTenants: true })).toEqual([true, true, true, false])
  })
})

describe('the context of a rule', () => {
  it('is that of the request, for the resource and the operation of the request', async () => {
    const seen: AutoApiContext[] = []
    const call = callOf({ read: ctx => seen.push(ctx) })
    await can(call, call.resource, 'read')
    expect(seen).toEqual([call.ctx])
    expect(seen[0]).toBe(call.ctx)
  })

  it('is one object for all rules of another operation, with the properties of the request', () => {
    const call = callOf({}, { locale: 'de' })
    const context = contextFor(call, call.resource, 'update')
    expect(context).toMatchObject({ resource: 'it', operation: 'update', user: { id: 1 }, locale: 'de' })
    expect(contextFor(call, call.resource, 'update')).toBe(context)
    expect(contextFor(call, call.resource, 'delete')).not.toBe(context)
    // A hook adds it later.
    Object.assign(call.ctx, { later: true })
    expect(context).toHaveProperty('later', true)
    expect([call.ctx.operation, Object.keys(context).sort()]).toEqual(['read', ['operation', 'resource']])
  })

  it('names the resource of the rule', () => {
    const call = callOf({})
    const other = resourcesOf({ other: sqlite.tags }).get('other')!
    expect(contextFor(call, other, 'read')).toMatchObject({ resource: 'other', operation: 'read' })
  })

  it('is another object for a session with the same decisions and another context', () => {
    const call = callOf({})
    const context = contextFor(call, call.resource, 'update')
    const other = { ...call, ctx: Object.assign(Object.create(call.ctx) as AutoApiContext, { resource: 'tags' }) }
    expect(contextFor(other, call.resource, 'update')).not.toBe(context)
    expect(Object.getPrototypeOf(contextFor(other, call.resource, 'update'))).toBe(other.ctx)
  })
})

describe('an evaluator', () => {
  const evaluate = vi.fn(async () => true)
  const session = (claims: (value: unknown) => boolean) => callOf({}, {}, { evaluators: [{ claims, evaluate }] })

  it('decides the objects that it claims, and nothing else', async () => {
    const call = session(() => true)
    expect(await decide(call, { policy: 'owner' } as Permission, call.ctx)).toBe(true)
    expect(evaluate.mock.calls).toEqual([[{ policy: 'owner' }, call.ctx]])
    evaluate.mockClear()
    for (const value of [null, 1, undefined, 'text', false]) expect(await decide(call, value as never, call.ctx)).toBe(false)
    expect(evaluate).not.toHaveBeenCalled()
  })

  it('that does not claim an object refuses it, without an error in the log', async () => {
    const call = session(() => false)
    expect(await decide(call, { policy: 'owner' } as Permission, call.ctx)).toBe(false)
    expect(console.error).not.toHaveBeenCalled()
  })
})

describe('a credential with scopes', () => {
  /** Whether a credential of the owner with these scopes can update. */
  const updates = async (
    permission: Permission | undefined,
    scopes: string[] | undefined,
    owner: { permissions?: string[], user?: AutoApiUser } = {},
    excluded: string[] = [],
  ) => {
    const own = { user: { id: 1, role: 'editor' }, permissions: [], ...owner }
    const call = callOf(permission === undefined ? {} : { update: permission }, {
      operation: 'update',
      permissions: own.permissions.filter(name => name !== '*'),
    })
    setLimits(call.ctx, { ...(scopes && { scopes: new Set(scopes) }), excluded: new Set(excluded), owner: own })
    return can(call, call.resource, 'update')
  }
  const STAR = { permissions: ['*'] }
  const NAMED = ['it:update']

  it.each<[what: string, permission: Permission | undefined, scopes: string[], owner: object, allowed: boolean]>([
    ['what everybody can do, if a scope names it', true, NAMED, {}, true],
    ['nothing that no scope names', true, ['it:read', 'editor'], {}, false],
    ['what a role of the owner allows, if a scope names the operation', 'editor', NAMED, {}, true],
    ['what a role of the owner allows, if a scope names the role', 'editor', ['editor'], {}, true],
    ['nothing that only a scope allows', 'admin', ['admin', ...NAMED], {}, false],
    ['what a function allows to the owner and to the reduced caller', ctx => ctx.user?.id === 1, NAMED, {}, true],
    ['nothing that a function allows only to the owner', ctx => ctx.user?.role === 'editor', NAMED, {}, false],
    ['nothing that a function allows only to the reduced caller', ctx => ctx.user?.role !== 'editor', NAMED, {}, false],
    ['nothing that a function allows, if no scope names it', () => true, ['it:read'], {}, false],
    ['what one entry of a list allows', ['admin', 'editor'], ['editor'], {}, true],
    ['nothing that no entry of a list allows', ['admin', 'chief'], NAMED, {}, false],
    ['nothing without a permission', undefined, NAMED, {}, false],
    ['nothing that the permission refuses', false, NAMED, {}, false],
    ['what a super-admin can do without a permission, if a scope names it', undefined, NAMED, STAR, true],
    ['what a super-admin can do although the permission refuses, if a scope names it', false, NAMED, STAR, true],
    ['what a super-admin can do with an empty list, if a scope names it', [], NAMED, STAR, true],
    ['nothing with an empty list for others', [], NAMED, {}, false],
    ['nothing of a super-admin that no scope names', [], ['it:read'], STAR, false],
    ['nothing of a super-admin without a permission that no scope names', undefined, ['it:read'], STAR, false],
    ['what one of the entries allows to a super-admin by its name', ['admin', 'chief'], ['chief'], STAR, true],
    ['nothing that a function in a list refuses to the reduced caller', [ctx => ctx.user?.role === 'editor'], NAMED, STAR, false],
    ['nothing of a list for a super-admin, if no scope names an entry', ['admin'], ['chief'], STAR, false],
  ])('can do %s', async (_what, permission, scopes, owner, allowed) => {
    expect(await updates(permission, scopes, owner)).toBe(allowed)
  })

  it('asks functions about the reduced caller only if a scope names the operation', async () => {
    const rule = vi.fn(() => true)
    await updates(rule, ['it:read'])
    expect(rule).toHaveBeenCalledTimes(1)
    await updates(rule, NAMED)
    expect(rule).toHaveBeenCalledTimes(3)
  })

  it('cannot use a resource that it excludes, with scopes and without', async () => {
    expect([
      await updates(true, NAMED, {}, ['it']),
      await updates(true, undefined, {}, ['it']),
      await updates(true, undefined, STAR, ['it']),
    ]).toEqual([false, false, false])
    expect([await updates(true, NAMED, {}, ['posts']), await updates(true, undefined, {}, ['posts'])]).toEqual([true, true])
  })

  it('cannot do what is not declared, if it only excludes other resources', async () => {
    expect([await updates(undefined, undefined, {}, ['posts']), await updates(false, undefined, {}, ['posts'])]).toEqual([false, false])
  })
})

describe('a rule about a field, for a credential with scopes', () => {
  const reads = async (permission: Permission, reduced: string[]) => {
    const owner = { user: { id: 1, role: 'editor' }, permissions: ['hr'] }
    const call = callOf({}, { permissions: reduced })
    setLimits(call.ctx, { scopes: new Set(reduced), excluded: new Set(), owner })
    return decide(call, permission, call.ctx)
  }

  it('must let both the owner and the reduced caller pass', async () => {
    expect([await reads('hr', ['hr']), await reads('editor', ['editor']), await reads(true, [])]).toEqual([true, true, true])
    expect([await reads('hr', []), await reads('admin', ['admin']), await reads(false, ['hr'])]).toEqual([false, false, false])
    expect([
      await reads(ctx => ctx.user?.role === 'editor', ['editor']),
      await reads(ctx => ctx.user?.role !== 'editor', ['editor']),
    ]).toEqual([false, false])
  })
})

describe('a named gate', () => {
  const gate = (permissions: Permissions, further?: Operation[]) => {
    const call = callOf({ read: true, update: false }, { operation: 'update' })
    const auth = { permissions: { read: true, update: false }, custom: { publish: { permissions } } } as ResourceAuth
    const resource = resourceOf({ schema: sqlite.posts, authorization: auth, disabled: ['purge'] })
    return codeOf(() => authorizeGate({ ...call, resource }, 'publish', ...further ? [further] : []))
  }

  it('decides its own operation, and the permissions of the resource decide the others', async () => {
    expect([await gate({ update: true }), await gate({ update: false }), await gate({})]).toEqual(['passes', 'FORBIDDEN', 'FORBIDDEN'])
    expect([
      await gate({ update: true }, ['read']),
      await gate({ update: true }, ['delete']),
      await gate({ update: true, delete: true }, ['delete']),
    ]).toEqual(['passes', 'FORBIDDEN', 'FORBIDDEN'])
  })
})
