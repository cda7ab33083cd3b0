/** Rows, fields and links that a caller cannot read change nothing in what its stream sends: no byte, no chunk, no order. */
import fc from 'fast-check'
import { afterEach, beforeAll, expect, it } from 'vitest'
import type { World } from '../../scenarios/write/world'
import { byTier } from '../../support/tiers'
import { FORGOTTEN, idle, pass, settle, startClock, stopClock } from './clock'
import { callers, openLibrary } from './library'
import { send } from './writes'

const RUNS = Number(process.env.RUNS ?? byTier({ push: 60, full: 1000, release: 5000 }))

type Write = readonly [method: string, path: string, body?: unknown]

const text = fc.constantFrom('x', 'y', 'z')
/** Writes to what the reader can read. */
const seen: fc.Arbitrary<Write> = fc.oneof(
  text.map((title): Write => ['PATCH', 'posts/1', { title }]),
  fc.boolean().map((published): Write => ['PATCH', 'posts/3', { published }]),
  fc.constant<Write>(['DELETE', 'posts/1']),
  fc.constant<Write>(['POST', 'posts/1/restore']),
  text.map((text): Write => ['PATCH', 'comments/1', { text }]),
  text.map((name): Write => ['PATCH', 'tags/a', { name }]),
  fc.constantFrom('POST', 'DELETE').map((method): Write => [method, 'posts/1/relations/tags', { ids: ['c'] }]),
  text.map((text): Write => ['PATCH', 'drafts/1', { text }]),
)
/** Writes to rows, fields and links that the reader cannot read, with the ids of both worlds. */
const unseen: fc.Arbitrary<Write> = fc.oneof(
  text.map((title): Write => ['PATCH', 'posts/2', { title }]),
  text.map((title): Write => ['PATCH', 'posts/bulk', { items: [2, 200].map(id => ({ id, data: { title } })) }]),
  fc.constant<Write>(['DELETE', 'posts/200']),
  fc.constant<Write>(['POST', 'posts/200/restore']),
  text.map((note): Write => ['PATCH', 'posts/1', { note }]),
  text.map((secret): Write => ['PATCH', 'posts/1', { secret }]),
  text.map((name): Write => ['PATCH', 'tags/b', { name }]),
  fc.constantFrom('POST', 'DELETE', 'PUT').map((method): Write => [method, 'posts/2/relations/tags', { ids: ['a', 'b'] }]),
  fc.constantFrom('POST', 'DELETE').map((method): Write => [method, 'posts/1/relations/tags', { ids: ['b'] }]),
  text.map((name): Write => ['PATCH', 'people/2', { name }]),
  text.map((text): Write => ['PATCH', 'drafts/2', { text }]),
  fc.integer({ min: 1, max: 5 }).map((stars): Write => ['PATCH', 'likes/2', { stars: stars > 1 ? 1 : 0 }]),
  fc.boolean().map((open): Write => ['PATCH', 'reviews/1', { open }]),
  fc.constantFrom(1, 2).map((grade): Write => ['PATCH', 'reviews/2', { grade }]),
)

const script = fc.array(fc.record({
  seen: fc.option(seen), unseen: fc.array(unseen, { maxLength: 3 }), settles: fc.boolean(),
}), { minLength: 1, maxLength: 8 })

let worlds: readonly World[]
beforeAll(async () => {
  worlds = [await openLibrary(), await openLibrary()]
})
afterEach(startClock)

async function chunksOf(world: World) {
  const request = new Request('http://localhost/api/_live?resources=posts,comments,likes,tags,people,drafts')
  const reader = (await world.fetch(request, callers().reader)).body!.getReader()
  const chunks: string[] = []
  const reading = (async () => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) chunks.push(new TextDecoder().decode(chunk.value))
  })()
  await idle()
  return { chunks, close: () => reader.cancel().then(() => reading) }
}

/** Without what is random in each stream. Its length stays. */
const plain = (chunk: string) => chunk.replace(/[\w-]{46}\.[\w-]{16}|"id":"[\w-]{36}"/g, id => '-'.repeat(id.length)).replace(/retry: \d{4}\n/, 'retry\n')

it('sends the same bytes in the same chunks, whatever others do to what the caller cannot read', async () => {
  await fc.assert(fc.asyncProperty(script, async (steps) => {
    for (const world of worlds) world.reset()
    // The second world has more rows that the reader cannot read.
    worlds[1]!.client.exec(`insert into posts (id, slug, title, team, published) values (200, 'zz', 'Far', 2, 1); insert into post_tags values (90, 1, 'b'), (91, 200, 'a');
      update posts set note = 'other' where id = 1; insert into drafts values (90, 7, 'far')`)
    stopClock()
    const streams = await Promise.all(worlds.map(chunksOf))
    for (const { seen, unseen, settles } of steps) {
      if (seen) for (const world of worlds) await send(world, seen)
      for (const write of unseen) await send(worlds[1]!, write)
      if (settles) await settle()
    }
    await settle()
    const [first, second] = streams.map(({ chunks }) => chunks.map(plain))
    expect(second).toEqual(first)
    await Promise.all(streams.map(({ close }) => close()))
    await pass(FORGOTTEN)
    startClock()
  }), { numRuns: RUNS })
}, 60_000 + RUNS * 500)
