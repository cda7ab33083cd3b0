/** Two requests at the same time on two nodes of a cluster have the result of one of the two orders, as on one server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResourceHooks } from '../../src/runtime/server/registration'
import { ddl, serveBlog, type Blog } from './support/blog'
import { hasCluster, openCluster, type Cluster } from './support/cluster'
import { mayBeTooLate, REQUESTS } from './support/requests'
import { reset, send, snapshot, type TestRequest } from './support/scene'
import { isFull } from '../support/tiers'

const REPETITIONS = Number(process.env.RUNS ?? 8)

/** Delete what the others refer to or link. */
const REMOVING: readonly TestRequest[] = [['DELETE', 'posts/1'], ['DELETE', 'posts/bulk', { ids: [2, 1] }], ['DELETE', 'comments/11']]
/** Read rows that they do not change, and that must not change until they commit. */
const REFERRING: readonly TestRequest[] = [
  ['PATCH', 'comments/21', { postId: 1 }],
  ['POST', 'comments', { body: 'late', postId: 1 }],
  ['POST', 'comments', { body: 'reply', parentId: 111 }],
  ['PUT', 'posts/1/relations/tags', { ids: [3] }],
  ['POST', 'posts/1/relations/tags', { ids: [2, 4] }],
]
const PAIRS = isFull
  ? REQUESTS.flatMap((one, index) => REQUESTS.slice(index).map(other => [one, other] as const))
  : [...REMOVING.flatMap(one => REFERRING.map(other => [one, other] as const)), [REFERRING[3]!, REFERRING[4]!] as const]

describe.skipIf(!hasCluster)('two requests at the same time on two nodes', () => {
  let cluster: Cluster, one: Blog, two: Blog
  let waits = false
  beforeAll(async () => {
    const pause = () => waits ? new Promise<void>(resolve => setTimeout(resolve, Math.random() * 3)) : undefined
    const hooks = Object.fromEntries(
      ['beforeCreate', 'beforeUpdate', 'beforeDelete', 'beforeRestore', 'beforePurge', 'beforeLink'].map(name => [name, pause]),
    ) as ResourceHooks
    cluster = await openCluster(ddl('mysql'))
    ;[one, two] = (await Promise.all(
      cluster.nodes.map(node =>
        serveBlog({ dialect: 'mysql', engine: 'mysql' }, node, { hooks: { posts: hooks, comments: hooks, tags: hooks } }),
      ),
    )) as [Blog, Blog]
  })
  afterAll(() => cluster?.close())

  async function after(run: () => Promise<string[]>): Promise<string> {
    await reset(one, 'mysql')
    await cluster.sync()
    const answers = await run()
    await cluster.sync()
    const rows = await snapshot(one)
    expect(await snapshot(two)).toEqual(rows)
    return JSON.stringify([answers, rows])
  }

  it.each(PAIRS)('%j and %j', async (first, second) => {
    waits = false
    const orders = [
      await after(async () => [await send(one, first), await send(one, second)]),
      await after(async () => [await send(one, second), await send(one, first)].reverse()),
      ...mayBeTooLate(first) ? [await after(async () => ['409 CONFLICT', await send(one, second)])] : [],
      ...mayBeTooLate(second) ? [await after(async () => [await send(one, first), '409 CONFLICT'])] : [],
    ]
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      waits = repetition % 2 === 1
      expect(orders).toContain(await after(() => Promise.all([send(one, first), send(two, second)])))
    }
  })
})
