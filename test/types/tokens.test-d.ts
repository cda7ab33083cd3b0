/** The types of API tokens: the one-time secret, what clients can write, introspection, the presets and the options of the plugins. */
import { describe, expectTypeOf, test } from 'vitest'
import {
  useAutoApiBulkCreate,
  useAutoApiCreate,
  useAutoApiGet,
  useAutoApiList,
  useAutoApiTokenIntrospect,
  useAutoApiTokenRotate,
  useAutoApiUpdate,
} from '../support/composables'
import { createModuleImport } from '../../src/build/module-import'
import { apiTokens, requestMetadata, tokenIntrospection, type FindUser, type FindUserOptions } from '../../src/runtime/plugins'
import type { AutoApiContext } from '../../src/runtime/server/define'
import type * as mysql from '../../src/runtime/plugins/schema-mysql'
import type * as pg from '../../src/runtime/plugins/schema-pg'
import type * as sqlite from '../../src/runtime/plugins/schema-sqlite'
import type { Introspection } from '../../src/runtime/plugins/api-tokens/shared/types'

interface Token {
  id: string
  name: string
  userId: string
  organizationId: string | null
  scopes: string[] | null
  start: string
  expiresAt: string | null
  lastUsedAt: string | null
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  deletedBy: string | null
  deletionId: string | null
}

interface IssuedToken extends Token {
  token?: string
  tokenAlreadyIssued?: true
}

declare function valueOf<T>(result: { readonly data: { readonly value: T } }): NonNullable<T>

describe('the secret of a token', () => {
  test('is known to the responses that issue it, and to no other', () => {
    const created = valueOf(useAutoApiCreate('apiTokens'))
    expectTypeOf(created).toEqualTypeOf<IssuedToken>()
    expectTypeOf(valueOf(useAutoApiTokenRotate('apiTokens'))).toEqualTypeOf<typeof created>()
    expectTypeOf(valueOf(useAutoApiGet('apiTokens', 'x'))).toEqualTypeOf<Token>()
    expectTypeOf(valueOf(useAutoApiList('apiTokens')).data).toEqualTypeOf<Token[]>()
    // @ts-expect-error an update issues no secret
    void valueOf(useAutoApiUpdate('apiTokens')).token
    // @ts-expect-error only tables of tokens have secrets
    void valueOf(useAutoApiCreate('labels')).token
    useAutoApiCreate('apiTokens', { onSuccess: ({ token }) => expectTypeOf(token).toEqualTypeOf<string | undefined>() })
  })

  test('is known to each record of a bulk create', () => {
    const [record] = valueOf(useAutoApiBulkCreate('apiTokens')).data
    expectTypeOf(record!.token).toEqualTypeOf<string | undefined>()
  })

  test('has no hash in a record', () => {
    // @ts-expect-error hashes are hidden
    void valueOf(useAutoApiGet('apiTokens', 'x')).tokenHash
    // @ts-expect-error hashes are hidden
    void valueOf(useAutoApiCreate('apiTokens')).previousHash
  })
})

describe('a client', () => {
  test('writes the name, the scopes and the expiry only', () => {
    const { mutate } = useAutoApiCreate('apiTokens')
    mutate({ name: 'deploy' })
    mutate({ name: 'deploy', scopes: ['posts:read'], expiresAt: null })
    mutate({ name: 'deploy', scopes: null, expiresAt: new Date() })
    // @ts-expect-error the name is required
    mutate({ scopes: [] })
    // @ts-expect-error the server sets the owner
    mutate({ name: 'deploy', userId: '1' })
    // @ts-expect-error the server makes the secret
    mutate({ name: 'deploy', tokenHash: 'x' })
    // @ts-expect-error scopes are a list
    mutate({ name: 'deploy', scopes: 'posts:read' })
    // @ts-expect-error an update cannot move a token
    useAutoApiUpdate('apiTokens').mutate({ id: 'x', organizationId: '2' })
  })

  test('rotates tokens only', () => {
    useAutoApiTokenRotate('apiTokens').mutate('x')
    // @ts-expect-error a resource without tokens
    void useAutoApiTokenRotate('articles')
  })
})

describe('introspection', () => {
  test('has the claims only if the token is active', () => {
    const { mutate, data } = useAutoApiTokenIntrospect()
    mutate('aat_x')
    // @ts-expect-error a token is text
    mutate({ token: 'aat_x' })
    expectTypeOf(data.value).toEqualTypeOf<Introspection | undefined>()
    const answer = valueOf({ data })
    // @ts-expect-error an inactive token has no claims
    void answer.scope
    if (answer.active)
      expectTypeOf(answer).toMatchObjectType<{
        scope: string
        token_type: 'Bearer'
        sub: string
        iat: number
        exp?: number
        jti: string
        tenant?: string
      }>()
  })
})

describe('the presets', () => {
  test('have the same columns in every dialect', () => {
    type Row<T extends { $inferSelect: unknown }> = T['$inferSelect']
    type Sqlite = Row<ReturnType<typeof sqlite.apiTokensTable>>
    expectTypeOf<Row<ReturnType<typeof pg.apiTokensTable>>>().toEqualTypeOf<Sqlite>()
    expectTypeOf<Row<ReturnType<typeof mysql.apiTokensTable>>>().toEqualTypeOf<Sqlite>()
    expectTypeOf<Sqlite['scopes']>().toEqualTypeOf<string[] | null>()
    expectTypeOf<Sqlite['expiresAt']>().toEqualTypeOf<Date | null>()
  })
})

describe('the options', () => {
  test('of apiTokens require findUser', () => {
    apiTokens({ findUser: createModuleImport('~~/server/tokens', 'findUser') })
    apiTokens({
      findUser: () => null,
      prefix: 'acme',
      maxDays: 30,
      allowNoExpiry: true,
      grace: 0,
      manage: 'admin',
      failures: { limit: 5, window: 60, store: 'limits' },
    })
    // @ts-expect-error findUser is required
    apiTokens({})
    // @ts-expect-error not an option
    apiTokens({ findUser: () => null, maxDay: 30 })
    // @ts-expect-error a number of seconds
    apiTokens({ findUser: () => null, grace: '60s' })
    // @ts-expect-error not a user
    apiTokens({ findUser: () => 'ann' })
  })

  test('of findUser are the event and the organization', () => {
    expectTypeOf<Parameters<FindUser>>().toEqualTypeOf<[userId: string, options: FindUserOptions]>()
    expectTypeOf<FindUserOptions['tenantId']>().toEqualTypeOf<string | null>()
  })

  test('of the other plugins are checked', () => {
    tokenIntrospection()
    tokenIntrospection({ limit: 5, window: 10 })
    // @ts-expect-error not an option
    tokenIntrospection({ limits: 5 })
    requestMetadata({ ip: false })
    // @ts-expect-error not a form of the address
    requestMetadata({ ip: true })
  })

  test('the context has the credential and the metadata', () => {
    expectTypeOf<NonNullable<AutoApiContext['credential']>>().toEqualTypeOf<{
      readonly id?: string
      readonly scopes: readonly string[] | null
    }>()
    expectTypeOf<NonNullable<AutoApiContext['metadata']>['requestId']>().toBeString()
  })
})
