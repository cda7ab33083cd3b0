/**
 * On every engine: two requests at the same time have the result of one of the two orders. The test finds the result of each order by
 * running the requests one after the other on the same rows.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResourceHooks } from '../../src/runtime/server/registration'
import { openBlog, type Blog } from './support/blog'
import { CONNECTION_CASES, isAvailable, sampleFor } from './support/databases'
import { mayBeTooLate, REQUESTS } from './support/requests'
import { send, snapshot, reset } from './support/scene'

const REPETITIONS = Number(process.env.RUNS ?? 2)

const PAIRS = REQUESTS.flatMap((one, index) => REQUESTS.slice(index).map(other => [one, other] as const))

describe.each(CONNECTION_CASES.filter(({ pooled, dialect }) => pooled || dialect === 'sqlite'))('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('two requests at the same time', () => {
    let blog: Blog
    let waits = false
    beforeAll(async () => {
      // In about half of the runs, both requests are checked before one of them writes.
      const pause = () => waits ? new Promise<void>(resolve => setTimeout(resolve, Math.random() * 3)) : undefined
      const hooks = Object.fromEntries(
        ['beforeCreate', 'beforeUpdate', 'beforeDelete', 'beforeRestore', 'beforePurge', 'beforeLink'].map(name => [name, pause]),
      ) as ResourceHooks
      blog = await openBlog(engineCase, { hooks: { posts: hooks, comments: hooks, tags: hooks } })
    })
    afterAll(() => blog?.opened.close())

    async function after(run: () => Promise<string[]>): Promise<string> {
      await reset(blog, engineCase.dialect)
      return JSON.stringify([await run(), await snapshot(blog)])
    }

    it.each(sampleFor(engineCase, PAIRS))('%j and %j', async (one, other) => {
      waits = false
      const orders = [
        await after(async () => [await send(blog, one), await send(blog, other)]),
        await after(async () => [await send(blog, other), await send(blog, one)].reverse()),
        ...mayBeTooLate(one) ? [await after(async () => ['409 CONFLICT', await send(blog, other)])] : [],
        ...mayBeTooLate(other) ? [await after(async () => [await send(blog, one), '409 CONFLICT'])] : [],
      ]
      for (let repetition = 0; repetition < REPETITIONS; repetition++) {
        waits = repetition % 2 === 1
        expect(orders).toContain(await after(() => Promise.all([send(blog, one), send(blog, other)])))
      }
    })
  })
})
