/** The order of test files: the longest start first, and the files of a project without isolation stay together. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { longestFirst } from '../support/longest-first'
import { root } from '../support/once'

const file = (project: string, path: string, { groupOrder = 0, isolate = true } = {}) =>
  ({ moduleId: join(root, path), project: { name: project, config: { isolate, sequence: { groupOrder } } } })

const TIMES = { a: { 'test/1.ts': 10, 'test/2.ts': 30 }, b: { 'test/3.ts': 20, 'test/4.ts': 5 } }

const order = (files: readonly ReturnType<typeof file>[]) => longestFirst(files, TIMES).map(({ moduleId }) => moduleId.slice(root.length))

it('starts the files first that took longest, of all projects of a group, and new files before them', () => {
  expect(order([file('b', 'test/4.ts'), file('a', 'test/1.ts'), file('b', 'test/new.ts'), file('b', 'test/3.ts'), file('a', 'test/2.ts')]))
    .toEqual(['test/new.ts', 'test/2.ts', 'test/3.ts', 'test/1.ts', 'test/4.ts'])
})

it('keeps the files of a project together whose files share their modules', () => {
  const isolate = false
  expect(
    order([
      file('b', 'test/3.ts', { isolate }),
      file('a', 'test/1.ts', { isolate }),
      file('b', 'test/4.ts', { isolate }),
      file('a', 'test/2.ts', { isolate }),
    ]),
  ).toEqual(['test/2.ts', 'test/1.ts', 'test/3.ts', 'test/4.ts'])
})

it('orders the files that share their modules by the seed, if there is one', () => {
  const orders = Array.from({ length: 10 }, (_, seed) =>
    longestFirst(
      ['1', '2', 'x', 'y'].map(name => file('a', `test/${name}.ts`, { isolate: false })),
      TIMES,
      String(seed),
    )
      .map(({ moduleId }) => moduleId)
      .join(),
  )
  expect(new Set(orders).size).toBeGreaterThan(3)
})

it('keeps the order of the groups', () => {
  expect(order([file('a', 'test/2.ts', { groupOrder: 1 }), file('b', 'test/4.ts')])).toEqual(['test/4.ts', 'test/2.ts'])
})
