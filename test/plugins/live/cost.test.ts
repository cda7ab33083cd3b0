/** What streams cost the database: one statement for each group of callers and commit, and nothing while nobody listens. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { World } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'
import { idle, settle, startClock, stopClock } from './clock'
import { EDITOR, listen, openFeed, OTHER, READER, type Listener } from './feed'

let world: World
const statements: string[] = []
const open: Listener[] = []
beforeEach(async () => {
  stopClock()
  world = await openFeed({ maxStreamsPerCaller: 50 }, { log: statement => void statements.push(statement) })
})
afterEach(async () => {
  for (const stream of open.splice(0)) stream.close()
  await idle()
  startClock()
})

async function follow(caller: Caller, count: number): Promise<void> {
  for (let index = 0; index < count; index++) open.push(await listen(world, 'posts', caller))
  await idle()
}

/** The statements of an update, and those that follow it. */
async function update(): Promise<readonly [own: number, following: number]> {
  statements.length = 0
  const { status } = await world.send('PATCH', 'posts/1', { title: `Title ${Math.random()}` }, EDITOR)
  expect(status).toBe(200)
  const own = statements.length
  await settle()
  return [own, statements.length - own]
}

it('costs one statement for each group, whatever the number of subscribers, and one more to read the row before', async () => {
  const [alone, after] = await update()
  expect(after).toBe(0)
  await follow(READER, 20)
  expect(await update()).toEqual([alone + 1, 1])
  await follow({ ...READER, user: { ...READER.user, id: 9 } }, 20)
  expect(await update()).toEqual([alone + 1, 1])
  await follow(EDITOR, 20)
  await follow(OTHER, 20)
  expect(await update()).toEqual([alone + 1, 3])
})

it('asks once about the commits of a moment, and a create reads nothing before', async () => {
  const create = () => world.send('POST', 'posts', { title: 'New', team: 1, published: true }, EDITOR)
  statements.length = 0
  await create()
  const alone = statements.length
  await follow(READER, 5)
  statements.length = 0
  for (let count = 0; count < 10; count++) await create()
  expect(statements.length).toBe(10 * alone)
  await settle()
  expect(statements.length).toBe(10 * alone + 1)
})
