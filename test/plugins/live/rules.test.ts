/** Rules that read other tables: a row is gone for those who could read it when the other rows were as before. */
import { and, eq, exists, inArray, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AutoApiContext } from '../../../src/runtime/server/define'
import { EVERYTHING, type World } from '../../scenarios/write/world'
import { idle, settle, startClock, stopClock } from './clock'
import { EDITOR, listen, openFeed, OTHER, posts, READER, type comments, type Listener } from './feed'

beforeEach(stopClock)
afterEach(startClock)

const db = drizzle({ client: new Database(':memory:') })
const teamOf = (ctx: AutoApiContext) => Number(ctx.user?.team ?? 0)
const RULES = {
  'a subquery as SQL': (table: typeof comments, ctx: AutoApiContext) =>
    sql`exists (select 1 from ${posts} where ${posts.id} = ${table.postId} and ${posts.team} = ${teamOf(ctx)})`,
  'a query of Drizzle': (table: typeof comments, ctx: AutoApiContext) =>
    inArray(table.postId, db.select({ id: posts.id }).from(posts).where(eq(posts.team, teamOf(ctx)))),
  'exists of Drizzle': (table: typeof comments, ctx: AutoApiContext) =>
    exists(db.select({ id: posts.id }).from(posts).where(and(eq(posts.id, table.postId), eq(posts.team, teamOf(ctx))))),
}

async function open(rule: keyof typeof RULES) {
  const world: World = await openFeed({}, { resources: {
    posts: { authorization: { permissions: EVERYTHING } },
    comments: { authorization: { permissions: EVERYTHING, listFilter: (table, ctx) => RULES[rule](table as never, ctx) as never } },
  } })
  const streams = [await listen(world, 'comments', READER), await listen(world, 'comments', OTHER)]
  await idle()
  return { world, streams }
}

async function close(streams: readonly Listener[]) {
  for (const stream of streams) stream.close()
  await idle()
}

const signals = (streams: readonly Listener[]) => streams.map(({ events }) =>
  events.slice(1).map(({ event, data }) => [event, ...Object.values(data)].join(' ')))

it.each(Object.keys(RULES) as (keyof typeof RULES)[])('follows a row that is deleted with the row that its rule reads: %s', async (rule) => {
  const { world, streams } = await open(rule)
  expect((await world.send('DELETE', 'posts/1?force=true', undefined, EDITOR)).status).toBe(200)
  await settle()
  expect(signals(streams)).toEqual([['gone comments 1'], []])
  await close(streams)
})

it('judges a row by the other rows as they were before, and as they are now', async () => {
  const { world, streams } = await open('a subquery as SQL')
  await world.send('PATCH', 'posts/1', { team: 2 }, EDITOR)
  expect((await world.send('PATCH', 'comments/1', { text: 'moved' }, OTHER)).status).toBe(200)
  await settle()
  expect(signals(streams)).toEqual([['gone comments 1'], ['changed comments 1']])
  await world.send('POST', 'posts', { title: 'New', team: 1 }, EDITOR)
  await world.send('POST', 'comments', { postId: 3, text: 'new' }, EDITOR)
  await settle()
  expect(signals(streams)).toEqual([['gone comments 1', 'changed comments 3'], ['changed comments 1']])
  await close(streams)
})
