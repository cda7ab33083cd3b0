/** What rules see of a caller with scopes: the user without roles, and only the permissions that the scopes name. */
import { describe, expect, it } from 'vitest'
import { limitsOf, ownerSession, reduceCaller, rolesOf, setLimits } from '../../../../../src/runtime/server/core/request/limits'
import type { Session } from '../../../../../src/runtime/server/core/request/session'
import type { AutoApiContext, AutoApiUser } from '../../../../../src/runtime/server/registration'

const reduce = (user: object | null, permissions: string[], scopes: string[]) =>
  reduceCaller({ user: user as AutoApiUser | null, permissions }, new Set(scopes))

describe('the permissions of a reduced caller', () => {
  it.each<[string, string[], object, string[], string[]]>([
    ['the permissions that a scope names', ['posts:write', 'tags'], {}, ['posts:write'], ['posts:write']],
    ['the roles that a scope names', [], { role: 'editor', roles: ['writer'] }, ['editor', 'writer', 'admin'], ['editor', 'writer']],
    ['no scope that the owner lacks', ['tags'], { role: 'editor' }, ['posts:write'], []],
    ['every scope of a super-admin', ['*'], {}, ['posts:write', 'tags'], ['posts:write', 'tags']],
    ['never all permissions, even of a super-admin', ['*'], {}, ['*', 'tags'], ['tags']],
    ['nothing without scopes', ['posts:write'], { role: 'editor' }, [], []],
  ])('are %s', (_what, permissions, user, scopes, expected) => {
    expect(reduce({ id: 1, ...user }, permissions, scopes).permissions).toEqual(expected)
  })
})

describe('the user of a reduced caller', () => {
  it('has no key that contains a role', () => {
    const roles = ['role', 'roles', 'organizationRole', 'organizationRoles', 'orgRole', 'org_role', 'org_roles', '_role']
    const others = [
      'id',
      'name',
      'Role',
      'Roles',
      'roleId',
      'roles2',
      'parole',
      'enroled',
      'myrole',
      'organizationRoleName',
      'org_role_id',
      'controls',
    ]
    const user = Object.fromEntries([...roles, ...others].map(key => [key, key]))
    expect(Object.keys(reduce(user, [], []).user).sort()).toEqual(others.sort())
  })

  it('has the reduced permissions, if the user has a list of them', () => {
    expect(reduce({ id: 1, permissions: ['a', 'b'] }, ['a', 'b'], ['a']).user).toEqual({ id: 1, permissions: ['a'] })
    expect(reduce({ id: 1 }, ['a', 'b'], ['a']).user).toEqual({ id: 1 })
  })

  it('is empty for an owner without a user', () => {
    expect(reduce(null, ['a'], ['a'])).toEqual({ user: {}, permissions: ['a'] })
  })
})

describe('the roles of a user', () => {
  it('are its `role` and its `roles`', () => {
    const holds = (user: object | null, role: string) => rolesOf(user as AutoApiUser | null).includes(role)
    expect([
      holds({ role: 'a', roles: ['b', 'c'] }, 'a'),
      holds({ role: 'a', roles: ['b', 'c'] }, 'b'),
      holds({ roles: ['b', 'c'] }, 'c'),
    ]).toEqual([true, true, true])
    expect([holds(null, 'a'), holds({}, 'a'), holds({ roles: 'a' }, 'a'), holds({ role: ['a'] }, 'a')]).toEqual([
      false,
      false,
      false,
      false,
    ])
  })
})

describe('the session of the owner', () => {
  const owner = { user: { id: 1, role: 'editor' } as AutoApiUser, permissions: ['posts:write'] }
  const limits = { scopes: new Set(['tags']), excluded: new Set<string>(), owner }
  const open = () => {
    const ctx = { user: { id: 1 }, permissions: ['tags'], resource: 'posts', operation: 'update' } as unknown as AutoApiContext
    setLimits(ctx, limits)
    return { ctx, session: { api: {}, engine: {}, ctx, memo: new Map([['can:posts:update', false]]) } as unknown as Session }
  }

  it('has the owner as its caller, all other properties of the request, and no limits', () => {
    const { ctx, session } = open()
    const { ctx: own } = ownerSession(session, ctx, limits)
    expect([own.user, own.permissions, own.resource, own.operation]).toEqual([owner.user, owner.permissions, 'posts', 'update'])
    expect(limitsOf(own)).toBeUndefined()
    expect(Object.keys(own).sort()).toEqual(['permissions', 'user'])
  })

  it('is one for all rules of a context, and shares no decisions with the limited caller', () => {
    const { ctx, session } = open()
    expect(ownerSession(session, ctx, limits)).toBe(ownerSession(session, ctx, limits))
    expect(ownerSession(session, ctx, limits).memo.size).toBe(0)
    expect(ownerSession(session, { ...ctx } as AutoApiContext, limits)).not.toBe(ownerSession(session, ctx, limits))
  })

  it('leaves the limited caller as it is', () => {
    const { ctx, session } = open()
    ownerSession(session, ctx, limits)
    expect([ctx.user, ctx.permissions, limitsOf(ctx)]).toEqual([{ id: 1 }, ['tags'], limits])
    expect(limitsOf(Object.create(ctx) as AutoApiContext)).toBe(limits)
    expect(Object.keys(ctx)).toEqual(['user', 'permissions', 'resource', 'operation'])
  })
})
