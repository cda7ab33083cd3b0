/** What streams cost: nothing without a stream, and one statement for a commit and all subscribers who can read the same rows. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Caller } from '../../support/server'
import { idle, settle, startClock, stopClock } from './clock'
import { EDITOR, listen, openFeed, OTHER, type Listener } from './feed'

beforeEach(stopClock)
afterEach(startClock)

const statements: string[] = []
const log = (statement: string) => void statements.push(statement)
const WRITES = [
  ['POST', 'posts', { title: 'New', team: 1, published: true }], ['PATCH', 'posts/1', { title: 'Other' }], ['DELETE', 'posts/1'],
  ['POST', 'posts/3/relations/tags', { ids: ['a'] }], ['DELETE', 'comments/2'],
] as const

async function statementsOf(plugins?: readonly unknown[]) {
  const world = await openFeed({}, { log, ...plugins && { plugins } })
  statements.length = 0
  for (const [method, path, body] of WRITES) expect((await world.send(method, path, body, EDITOR)).status).toBeLessThan(300)
  await settle()
  return [...statements]
}

it('runs the same statements as without the plugin, if nobody listens', async () => {
  expect(await statementsOf()).toEqual(await statementsOf([]))
})

it('runs one statement for each group of subscribers, however many they are and however many rows have changed', async () => {
  const world = await openFeed({ maxStreams: 1000, maxStreamsPerCaller: 1000 }, { log })
  const streams: Listener[] = []
  const readers = Array.from({ length: 50 }, (_, index): Caller => ({ user: { id: 100 + index, team: 1 } }))
  for (const caller of [...readers, EDITOR, OTHER]) streams.push(await listen(world, 'posts', caller))
  await idle()
  for (const [method, path, body] of [...WRITES.slice(0, 3), ['PATCH', 'posts/bulk', { items: [{ id: 3, data: { title: 'B' } }] }]] as const)
    expect((await world.send(method, path, body, EDITOR)).status).toBeLessThan(300)
  statements.length = 0
  await settle()
  expect(statements).toHaveLength(3)
  // Nobody follows comments.
  await world.send('PATCH', 'comments/1', { text: 'new' }, EDITOR)
  statements.length = 0
  await settle()
  expect(statements).toEqual([])
  expect(streams[0]!.events.length).toBeGreaterThan(1)
  expect(streams.slice(0, 50).map(({ events }) => events.length)).toEqual(Array.from({ length: 50 }, () => streams[0]!.events.length))
  for (const stream of streams) stream.close()
  await idle()
})
