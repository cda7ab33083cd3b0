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

it('keeps at most 100 unused groups', async () => {
  for (let team = 1; team <= 130; team++) {
    const stream = await listen(world, 'posts', { user: { id: team, team } })
    await idle()
    stream.close()
    await idle()
  }
  expect(await update()).toEqual([expect.any(Number), 100])
})

it('resets the streams of a table if too many changes wait to be judged', async () => {
  await follow(READER, 1)
  world.client.exec('with recursive n as (select 1 as i union all select i + 1 from n where i < 20001) insert into comments (id, text) select i + 10, \'x\' from n')
  open.push(await listen(world, 'comments', READER))
  await idle()
  const ids = Array.from({ length: 20_001 }, (_, index) => index + 11)
  for (let start = 0; start < ids.length; start += 100)
    expect((await world.send('DELETE', 'comments/bulk', { ids: ids.slice(start, start + 100) }, EDITOR)).status).toBe(200)
  await settle()
  const [ofPosts, ofComments] = open.map(({ events }) => events.map(({ event }) => event))
  expect([ofPosts, ofComments!.includes('reset')]).toEqual([['open'], true])
})
