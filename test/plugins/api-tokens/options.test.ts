/** The options of `apiTokens`: which values are valid, which fail, and what applies without them. */
import { describe, expect, it } from 'vitest'
import { createModuleImport } from '../../../src/module'
import { apiTokens, type ApiTokensOptions } from '../../../src/runtime/plugins'
import { resolveOptions } from '../../../src/runtime/plugins/api-tokens/options'

const findUser = () => null
const create = (options: object) => apiTokens({ findUser, ...options } as ApiTokensOptions)

/** By hand: the smallest and the largest valid values of each option, and values next to them. */
const VALUES: Readonly<Record<string, { readonly valid: readonly unknown[], readonly invalid: readonly unknown[], readonly use: string }>>
  = {
    resource: { valid: ['apiTokens', 't'], invalid: ['', 1, {}], use: 'the name of a resource' },
    findUser: {
      valid: [findUser, createModuleImport('/app/tokens', 'findUser')],
      invalid: ['findUser', {}, undefined],
      use: 'a function that finds a user by its id',
    },
    prefix: {
      valid: ['ab', 'a1', 'a'.repeat(20)],
      invalid: ['a', 'a'.repeat(21), '1a', 'aB', 'a_b', 'Aab', 'ab-', ' ab', ['ab'], 12],
      use: '2 to 20 small letters and digits',
    },
    maxDays: { valid: [1, 36_600], invalid: [0, -1, 1.5, 36_601, '30', Number.NaN, Infinity], use: 'a number of days from 1 to 36600' },
    allowNoExpiry: { valid: [true, false], invalid: ['true', 1, 0], use: '`true` or `false`' },
    grace: { valid: [0, 1, 86_400], invalid: [-1, 0.5, 86_401, '60'], use: 'a number of seconds from 0 to 86400' },
    manage: { valid: ['admin'], invalid: ['', '*', 1, ['admin']], use: 'the name of a permission or a role' },
    failures: { valid: [{}, { limit: 1 }], invalid: [[], 'limit', 5], use: 'an object such as `{ limit: 100, window: 60 }`' },
  }

const FAILURES: typeof VALUES = {
  limit: { valid: [1, 1_000_000], invalid: [0, -1, 1.5, '5', Infinity], use: 'a positive integer' },
  window: { valid: [1, 86_400], invalid: [0, 1.5, 86_401, '60'], use: 'a number of seconds from 1 to 86400' },
  store: {
    valid: ['limits', { hit: () => ({ count: 1, left: 1 }) }, createModuleImport('/app/store', 'store')],
    invalid: ['', 1, []],
    use: 'the name of a storage of Nitro\'s or, in a server file, a storage',
  },
}

function messageOf(run: () => unknown): string {
  try {
    run()
    return ''
  }
  catch (error) {
    return (error as Error).message
  }
}

describe.each([
  ['apiTokens', VALUES, (option: string, value: unknown) => ({ [option]: value })],
  ['apiTokens.failures', FAILURES, (option: string, value: unknown) => ({ failures: { [option]: value } })],
] as const)('%s', (where, values, optionsWith) => {
  it.each(Object.keys(values))('accepts the valid values of %s', (option) => {
    for (const value of values[option]!.valid) expect(() => create(optionsWith(option, value)), JSON.stringify(value)).not.toThrow()
  })

  it.each(Object.keys(values))('refuses other values of %s, and says what is valid', (option) => {
    const { invalid, use } = values[option]!
    for (const value of invalid)
      expect(() => create(optionsWith(option, value)), JSON.stringify(value)).toThrow(
        new RegExp(`^\\[auto-api\\] \`${where}\\.${option}\` is .*\\. Use ${use.replace(/[{}*]/g, '\\$&')}\\.`),
      )
  })

  it('says that options with code can be module imports', () => {
    for (const [option, { invalid }] of Object.entries(values)) {
      const refusal = expect.stringContaining('name an export with `createModuleImport(path, name)`') as unknown
      expect(messageOf(() => create(optionsWith(option, invalid[0])))).toEqual(
        ['findUser', 'store'].includes(option) ? refusal : expect.not.stringContaining('createModuleImport'),
      )
    }
  })

  it('refuses an unknown option', () => {
    expect(() => create(optionsWith('maxAge', 1))).toThrow(`\`${where}.maxAge\` is not an option.`)
  })
})

describe('the defaults', () => {
  it('are those of the documentation', () => {
    expect(resolveOptions({ findUser })).toEqual({
      resource: 'apiTokens', findUser, prefix: 'aat', maxDays: 366, allowNoExpiry: false, grace: 60, manage: undefined,
      failures: { limit: 100, window: 60, store: undefined },
    })
  })

  it('apply to each option alone', () => {
    expect(resolveOptions({ findUser, grace: 0, failures: { limit: 3 } })).toMatchObject({
      grace: 0,
      maxDays: 366,
      failures: { limit: 3, window: 60 },
    })
  })
})
