/** May the caller: every value a permission can have, for every kind of caller, written down as the contract has it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { decide, can } from '../../../../../src/runtime/server/core/access/authorize'
import type { Session } from '../../../../../src/runtime/server/core/request/session'
import type { AutoApiContext, Permission, ResourceAuth } from '../../../../../src/runtime/server/registration'
import type { Operation } from '../../../../../src/runtime/shared/operations'
import { resourceOf, sqlite } from '../../../../support/tables'

const CALLERS = {
  anonymous: { user: null, permissions: [] },
  signedIn: { user: { id: 1 }, permissions: [] },
  holder: { user: { id: 2 }, permissions: ['posts:write'] },
  /** An API client without a user may hold permissions as well. */
  anonymousHolder: { user: null, permissions: ['posts:write'] },
  editor: { user: { id: 3, role: 'editor' }, permissions: [] },
  editorAmongOthers: { user: { id: 4, roles: ['writer', 'editor'] }, permissions: [] },
  superAdmin: { user: { id: 5 }, permissions: ['*'] },
  /** Only a permission makes a super-admin. */
  roleNamedStar: { user: { id: 6, role: '*', roles: ['*'] }, permissions: [] },
} as const satisfies Record<string, Pick<AutoApiContext, 'user' | 'permissions'>>

type Caller = keyof typeof CALLERS

const everybody = Object.keys(CALLERS) as Caller[]
const nobody: Caller[] = []
const onlySuperAdmin: Caller[] = ['superAdmin']

const throws = () => {
  throw new Error('the database is down')
}

const VALUES: [title: string, permission: Permission, passed: Caller[]][] = [
  ['true lets everybody in', true, everybody],
  ['false as the rule of a field lets nobody in, not even \'*\'', false, nobody],
  ['a string is a permission', 'posts:write', ['holder', 'anonymousHolder', 'superAdmin']],
  ['a string is a role', 'editor', ['editor', 'editorAmongOthers', 'superAdmin']],
  ['a string nobody has lets in only \'*\'', 'posts', onlySuperAdmin],
  ['an empty string lets in only \'*\'', '', onlySuperAdmin],
  ['\'*\' as a permission is a name like any other', '*', ['superAdmin', 'roleNamedStar']],
  ['an array is any of its entries', ['posts:write', 'editor'], ['holder', 'anonymousHolder', 'editor', 'editorAmongOthers', 'superAdmin']],
  ['an array may hold functions', ['posts:write', ctx => ctx.user?.id === 1], ['signedIn', 'holder', 'anonymousHolder', 'superAdmin']],
  ['an empty array lets in only \'*\'', [], onlySuperAdmin],
  ['an entry that throws leaves the others their say', [throws, 'editor'], ['editor', 'editorAmongOthers', 'superAdmin']],
  [
    'a function decides by the context',
    ctx => ctx.user !== null,
    ['signedIn', 'holder', 'editor', 'editorAmongOthers', 'superAdmin', 'roleNamedStar'],
  ],
  ['a function may be asynchronous', async ctx => ctx.user?.id === 1, ['signedIn', 'superAdmin']],
  ['a promise of false is no truthy value', async () => false, onlySuperAdmin],
  ['a function may answer anything truthy', () => 'yes', everybody],
  ['a function that answers nothing refuses', () => undefined, onlySuperAdmin],
  ['a function that throws refuses', throws, onlySuperAdmin],
  ['a function that rejects refuses', async () => throws(), onlySuperAdmin],
  ['an object that nobody evaluates refuses', { policy: 'owner' }, onlySuperAdmin],
  ['what is no permission at all refuses', null as never, onlySuperAdmin],
  ['a number is no permission', 1 as never, onlySuperAdmin],
]

/** The evaluators are all that authorization reads of an API. */
const session = { api: { evaluators: [] } } as unknown as Session

const context = (caller: Caller, operation: Operation = 'update') =>
  ({ ...CALLERS[caller], resource: 'posts', operation }) as unknown as AutoApiContext

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe.each(VALUES)('a permission that is %s', (_title, permission, passed) => {
  it.each(everybody)('is decided for %s', async (caller) => {
    expect(await decide(session, permission, context(caller))).toBe(passed.includes(caller))
  })
})

describe('a permission function', () => {
  it('receives the caller, the resource and the operation', async () => {
    const rule = vi.fn(() => true)
    const ctx = context('editor')
    await decide(session, rule, ctx)
    expect(rule.mock.calls).toEqual([[ctx]])
  })

  it('is not called for \'*\'', async () => {
    const rule = vi.fn(() => false)
    expect(await decide(session, rule, context('superAdmin'))).toBe(true)
    expect(rule).not.toHaveBeenCalled()
  })

  it('logs its error with the resource and operation if it throws', async () => {
    await decide(session, throws, context('signedIn'))
    const [message, error] = vi.mocked(console.error).mock.calls[0]!
    expect(message).toMatch(/posts.*update/)
    expect(error).toMatch(/^Error: the database is down\n/)
  })
})

describe('a user\'s roles', () => {
  it.each([
    ['role that is no string', { role: ['editor'] }],
    ['roles that are no list', { roles: 'editor' }],
    ['roles as an object', { roles: { editor: true } }],
    ['neither', {}],
  ])('count only as role (a name) and roles (a list of names): %s', async (_title, user) => {
    expect(await decide(session, 'editor', { ...context('signedIn'), user: { id: 1, ...user } } as AutoApiContext)).toBe(false)
  })
})

/** By hand, from the contract: undeclared → what it falls back to → refused. */
const FALLBACKS: [asked: Operation, declared: Operation, answers: boolean][] = [
  ['aggregate', 'read', true],
  ['restore', 'update', true],
  ['purge', 'delete', true],
  ['viewDeleted', 'restore', true],
  ['viewDeleted', 'update', true],
  ['viewDeleted', 'read', false],
  ['restore', 'delete', false],
  ['purge', 'update', false],
  ['aggregate', 'update', false],
  ['read', 'aggregate', false],
  ['update', 'restore', false],
  ['delete', 'purge', false],
  ['create', 'update', false],
  ['update', 'create', false],
  ['delete', 'update', false],
]

describe('an operation without a permission', () => {
  it.each(FALLBACKS)('%s, where only %s is declared: %s', async (asked, declared, answers) => {
    expect(await ask('signedIn', asked, { permissions: { [declared]: true } })).toBe(answers)
  })

  it.each(['read', 'create', 'update', 'delete', 'aggregate', 'restore', 'purge', 'viewDeleted'] as const)(
    'is refused to every caller without \'*\': %s',
    async (operation) => {
      expect(await ask('editor', operation, { permissions: {} })).toBe(false)
      expect(await ask('superAdmin', operation, { permissions: {} })).toBe(true)
      expect(await ask('superAdmin', operation, {})).toBe(true)
    },
  )

  it('does not fall back if it declares its own permission', async () => {
    expect(await ask('signedIn', 'aggregate', { permissions: { read: true, aggregate: false } })).toBe(false)
    expect(await ask('signedIn', 'restore', { permissions: { update: false, restore: true } })).toBe(true)
    expect(await ask('signedIn', 'viewDeleted', { permissions: { update: true, restore: false } })).toBe(false)
  })
})

describe('`false` as the permission of an operation', () => {
  it.each(everybody)('refuses every caller without \'*\', also for an operation that falls back to it: %s', async (caller) => {
    const answers = [
      await ask(caller, 'delete', { permissions: { delete: false } }),
      await ask(caller, 'purge', { permissions: { delete: false } }),
    ]
    expect(answers).toEqual(caller === 'superAdmin' ? [true, true] : [false, false])
  })
})

describe('\'*\'', () => {
  it('passes every operation without a function call', async () => {
    const rule = vi.fn(() => false)
    for (const permission of [rule, [rule], false, [false], { policy: 'owner' }] as Permission[])
      expect(await ask('superAdmin', 'update', { permissions: { update: permission } })).toBe(true)
    expect(rule).not.toHaveBeenCalled()
  })

  it('does not pass an operation that the registration disables', async () => {
    for (const caller of everybody) expect(await ask(caller, 'delete', { permissions: { delete: true } }, ['delete'])).toBe(false)
    expect(await ask('superAdmin', 'purge', { permissions: { delete: true } }, ['delete'])).toBe(true)
  })
})

describe('a resource without authorization', () => {
  it.each(everybody)('refuses every caller, \'*\' included: %s', async (caller) => {
    for (const operation of ['read', 'create', 'update', 'delete', 'purge'] as const)
      expect(await ask(caller, operation, undefined)).toBe(false)
  })
})

describe('the permission of one request', () => {
  it('is decided once', async () => {
    const read = vi.fn(() => true)
    const { call, resource } = callOf('signedIn', 'read', { permissions: { read } })
    expect([await can(call, resource, 'read'), await can(call, resource, 'read')]).toEqual([true, true])
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('is decided with the requested operation, not the one it falls back to', async () => {
    const seen: string[] = []
    await ask('signedIn', 'purge', { permissions: { delete: ctx => seen.push(`${ctx.resource} ${ctx.operation}`) } })
    expect(seen).toEqual(['it purge'])
  })
})

function callOf(caller: Caller, operation: Operation, authorization: ResourceAuth | undefined, disabled: Operation[] = []) {
  const resource = resourceOf({ schema: sqlite.posts, disabled, ...authorization && { authorization } })
  // The gate knows a call by its context and what was asked before; it has no use for a database.
  const call = { ...session, ctx: { ...CALLERS[caller], resource: 'it', operation }, resource, memo: new Map() } as unknown as Parameters<
    typeof can
  >[0]
  return { call, resource }
}

async function ask(
  caller: Caller,
  operation: Operation,
  authorization: ResourceAuth | undefined,
  disabled?: Operation[],
): Promise<boolean> {
  const { call, resource } = callOf(caller, operation, authorization, disabled)
  return can(call, resource, operation)
}
