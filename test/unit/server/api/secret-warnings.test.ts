/** Warnings at startup about secrets that do not protect. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createHookRegistry } from '../../../../src/runtime/server/core/extensions/hook-registry'
import { warnAboutSecrets } from '../../../../src/runtime/server/api/secret-warnings'
import { DEFAULT_CONFIG } from '../../../../src/runtime/shared/defaults'

const [LONG, OTHER, SHORT] = ['a'.repeat(32), 'b'.repeat(32), 'b'.repeat(31)]
const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
afterEach(() => warn.mockClear())

const warningsOf = (autoApi: object) => {
  warnAboutSecrets([], createHookRegistry(), DEFAULT_CONFIG, () => ({ autoApi }))
  return warn.mock.calls.flat().map(text => /(NUXT_\w+) \(.+?\) (.+?)[,.]/.exec(String(text))?.slice(1).join(' '))
}

describe('a server with secrets', () => {
  it.each([{}, { secret: '', previousSecret: '' }, { secret: LONG }, { secret: LONG, previousSecret: OTHER }])('has no warning: %j', (secrets) => {
    expect(warningsOf(secrets)).toEqual([])
  })

  it.each([
    [{ secret: SHORT }, ['NUXT_AUTO_API_SECRET is so short that it can be guessed']],
    [{ secret: LONG, previousSecret: SHORT }, ['NUXT_AUTO_API_PREVIOUS_SECRET is so short that it can be guessed']],
    [{ secret: 5 }, ['NUXT_AUTO_API_SECRET is not a text']],
    [{ secret: LONG, previousSecret: true }, ['NUXT_AUTO_API_PREVIOUS_SECRET is not a text']],
    [{ secret: LONG, previousSecret: LONG }, ['NUXT_AUTO_API_PREVIOUS_SECRET is equal to NUXT_AUTO_API_SECRET']],
    [{ previousSecret: LONG }, ['NUXT_AUTO_API_PREVIOUS_SECRET is ignored']],
    [{ secret: 5, previousSecret: SHORT }, ['NUXT_AUTO_API_SECRET is not a text', 'NUXT_AUTO_API_PREVIOUS_SECRET is ignored']],
    [{ secret: SHORT, previousSecret: SHORT }, [
      'NUXT_AUTO_API_SECRET is so short that it can be guessed', 'NUXT_AUTO_API_PREVIOUS_SECRET is equal to NUXT_AUTO_API_SECRET',
    ]],
  ])('has a warning: %j', (secrets, warnings) => {
    expect(warningsOf(secrets)).toEqual(warnings)
  })

  it('has no secret in its warnings', () => {
    warningsOf({ secret: 'guessable-one', previousSecret: 'guessable-two' })
    expect(warn.mock.calls).toHaveLength(2)
    expect(warn.mock.calls.flat().join()).not.toContain('guessable')
  })
})
