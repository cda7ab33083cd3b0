/** Checks the messages for missing peer dependencies. */
import { createJiti } from 'jiti'
import { describe, expect, it } from 'vitest'
import { generateMissing, VUE_IMPORTS } from '../../../src/build/imports'
import { toMessage } from '../../../src/build/problem'
import { checkPeerDependencies, drizzleFileOf } from '../../../src/build/peer-dependencies'

const without = (...missing: string[]) =>
  checkPeerDependencies(name => !missing.includes(name), missing.includes('drizzle-orm') ? undefined : '0.45.4')

describe('a missing peer dependency', () => {
  it('is not reported if everything is installed', async () => {
    expect(await without()).toEqual({ problems: [], composables: true })
  })

  it('of the composables is no problem, because an app without pages does not need them', async () => {
    expect(await without('@tanstack/vue-query')).toEqual({ problems: [], composables: false })
  })

  it('of the composables is an error where one is used, with the command to install it', async () => {
    const missing = (await createJiti(import.meta.url).evalModule(generateMissing(), {
      filename: '/without-query.ts',
      async: true,
    })) as Record<string, () => unknown>
    expect(Object.keys(missing).sort()).toEqual(VUE_IMPORTS.flatMap(({ names }) => names).sort())
    expect(() => missing.useAutoApiList!()).toThrow(
      '[auto-api] useAutoApiList requires @tanstack/vue-query, which is not installed. Run "npm install vue@3 @tanstack/vue-query".',
    )
    expect(new Error('other') instanceof (missing.AutoApiError as unknown as ErrorConstructor)).toBe(false)
  })

  it('of the server fails the build with the command to install it', async () => {
    expect((await without('drizzle-orm')).problems.map(toMessage)).toEqual([
      '`drizzle-orm` is not installed, but the server requires it. Run `npm install drizzle-orm`.',
    ])
  })
})

describe('the version of Drizzle', () => {
  const problemsOf = async (version: string) => (await checkPeerDependencies(() => true, version)).problems.map(toMessage)

  it.each(['0.45.2', '0.45.4', '0.45.10', '1.0.0-rc.5', '1.0.0-rc.5-5935859', '1.0.0-rc.10', '1.0.0', '1.2.3'])(
    '%s is supported',
    async (version) => {
      expect(await problemsOf(version)).toEqual([])
    },
  )

  it.each(['0.44.0', '0.45.0', '0.45.1', '0.46.0', '1.0.0-beta.22', '1.0.0-rc.4', '1.0.0-rc.1-abcdef', '2.0.0'])(
    '%s fails the build, which names the supported ones',
    async (version) => {
      expect(await problemsOf(version)).toEqual([
        `\`drizzle-orm@${version}\` is not supported. Run \`npm install drizzle-orm@latest\` (0.45.2 or newer, or 1.0.0-rc.5 or newer).`,
      ])
    },
  )

  it('decides which file the app loads', () => {
    expect(['0.45.4', '1.0.0-rc.5', '1.0.0'].map(drizzleFileOf)).toEqual(
      ['major-0', 'major-1', 'major-1'].map(name => `./runtime/server/drizzle/${name}`),
    )
  })
})
