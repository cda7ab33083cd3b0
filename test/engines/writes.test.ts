/** On every engine random sequences of writes by several callers have the result of a simple model, with trash, bulk and links. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { property, World } from '../scenarios/model/world'
import { CLEAR, openBlog, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable } from './support/databases'

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('random sequences of writes by several callers', () => {
    let blog: Blog
    beforeAll(async () => {
      blog = await openBlog(engineCase)
    })
    afterAll(() => blog?.opened.close())

    it('match the model after every step', async () => {
      const outcomes = new Map<string, number>()
      const fresh = async () => {
        await blog.opened.exec(CLEAR)
        return new World(blog, blog.opened.all)
      }
      await fc.assert(property(fresh, outcomes), { numRuns: Number(process.env.RUNS ?? engineCase.writeRuns ?? engineCase.runs) })
      expect([...outcomes.keys()].sort()).toEqual(expect.arrayContaining(['200', '201', '404']))
    })
  })
})
