/** Checks the messages for missing peer dependencies. */
import { describe, expect, it } from 'vitest'
import { toMessage } from '../../../src/build/problem'
import { checkPeerDependencies } from '../../../src/build/peer-dependencies'

const without = (...missing: string[]) => checkPeerDependencies(name => !missing.includes(name))

describe('a missing peer dependency', () => {
  it('is not reported if everything is installed', async () => {
    expect(await without()).toEqual({ problems: [], warnings: [], composables: true })
  })

  it('of the composables removes them and causes a warning with the command to install it', async () => {
    const { composables, problems, warnings } = await without('@tanstack/vue-query')
    expect({ composables, problems }).toEqual({ composables: false, problems: [] })
    expect(warnings).toEqual([expect.stringMatching(/`@tanstack\/vue-query` is not installed.*npm install @tanstack\/vue-query/)])
  })

  it('of the server fails the build with the command to install it', async () => {
    expect((await without('drizzle-orm')).problems.map(toMessage)).toEqual(['`drizzle-orm` is not installed, but the server requires it. Run `npm install drizzle-orm`.'])
  })
})
