/** The session of better-auth with its different versions and set-ups. Built apps test the real library. */
import { describe, expect, it } from 'vitest'
import { betterAuth, type BetterAuthInstance } from '../../../src/runtime/plugins'

const session = {
  user: { id: 'u1', organizationId: 'forged', organizationRole: 'owner' },
  session: { activeOrganizationId: 'o1' as string | null },
}

async function userOf(api: Partial<BetterAuthInstance['api']>, how: 'instance' | 'function' = 'instance'): Promise<unknown> {
  const auth = { api: { getSession: async () => session, ...api } }
  const ctx = { user: null as unknown, event: { headers: new Headers() } }
  await betterAuth({ auth: how === 'instance' ? auth : () => auth }).extendContext!(ctx as never)
  return ctx.user
}

const nowhere = { id: 'u1', organizationId: null, organizationRole: undefined }

describe('the organisation of a user is', () => {
  it.each(['instance', 'function'] as const)('that of the session, with the role of the member: %s', async (how) => {
    expect(await userOf({ getActiveMember: async () => ({ organizationId: 'o1', role: 'member' }) }, how)).toEqual({
      id: 'u1',
      organizationId: 'o1',
      organizationRole: 'member',
    })
  })

  it('that of the session when memberships are not in use', async () => {
    expect(await userOf({})).toEqual({ id: 'u1', organizationId: 'o1', organizationRole: undefined })
  })

  it.each<[string, Partial<BetterAuthInstance['api']>]>([
    ['the session names none', { getSession: async () => ({ ...session, session: { activeOrganizationId: null } }) }],
    ['the membership is over', { getActiveMember: async () => null }],
    [
      'the membership is over, and the version says so by throwing',
      { getActiveMember: () => Promise.reject(Object.assign(new Error('no member'), { statusCode: 400 })) },
    ],
    ['it changed between the two questions', { getActiveMember: async () => ({ organizationId: 'o2', role: 'owner' }) }],
  ])('none when %s, whatever the user record says', async (_, api) => {
    expect(await userOf(api)).toEqual(nowhere)
  })

  it('an error when the database is not reachable', async () => {
    await expect(userOf({ getActiveMember: () => Promise.reject(new Error('database away')) })).rejects.toThrow('database away')
    await expect(userOf({ getSession: () => Promise.reject(new Error('database away')) })).rejects.toThrow('database away')
  })
})

it('does not change the caller without a session', async () => {
  expect(await userOf({ getSession: async () => null })).toBeNull()
})

it.each([{}, { auth: {} }, { auth: null }, { auth: 'auth' }])('throws for a value that is not an instance of better-auth: %j', (options) => {
  expect(() => betterAuth(options as never)).toThrow(
    /`betterAuth\.auth` is .*\. Use the instance that `betterAuth\(\)` of better-auth returned/,
  )
})
