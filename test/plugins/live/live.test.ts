/** Who receives which signals, by the rows and the fields that the caller can read. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { World } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'
import { ANYONE, EDITOR, listen, openFeed, OTHER, READER, type Listener } from './feed'

let world: World
const open: Listener[] = []
beforeEach(async () => {
  world = await openFeed()
})
afterEach(() => {
  for (const listener of open.splice(0)) listener.close()
})

const follow = async (resources: string, caller: Caller) => {
  const listener = await listen(world, resources, caller)
  open.push(listener)
  await listener.waitFor('open')
  return listener
}

describe('a stream', () => {
  it('names a record that is created, updated and moved to the trash, without its values', async () => {
    const reader = await follow('posts', READER)
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const { body } = await world.send('POST', 'posts', { title: 'New', team: 1, published: true }, EDITOR)
    expect(await reader.signals(1)).toEqual([`changed posts ${body.id}`])
    await world.send('PATCH', 'posts/1', { title: 'Other' }, EDITOR)
    expect(await reader.signals(1)).toEqual(['changed posts 1'])
    await world.send('DELETE', 'posts/1', undefined, EDITOR)
    expect(await reader.signals(1)).toEqual(['gone posts 1'])
    await world.send('POST', 'posts/1/restore', undefined, EDITOR)
    expect(await reader.signals(1)).toEqual(['changed posts 1'])
    expect(JSON.stringify(reader.events)).not.toContain('Other')
  })

  it('says nothing about rows that the caller can read neither before nor after', async () => {
    const [reader, other] = [await follow('posts', READER), await follow('posts', OTHER)]
    await world.send('PATCH', 'posts/1', { title: 'Other' }, EDITOR)
    await world.send('PATCH', 'posts/3', { title: 'Still a draft' }, EDITOR)
    expect([await reader.signals(1), await other.signals()]).toEqual([['changed posts 1'], []])
  })

  it('says that a row is gone when a column that a rule looks at hides it, and changed when it appears', async () => {
    const [editor, reader, other] = [await follow('posts', EDITOR), await follow('posts', READER), await follow('posts', OTHER)]
    await world.send('PATCH', 'posts/1', { published: false }, EDITOR)
    expect([await editor.signals(1), await reader.signals(1), await other.signals()]).toEqual([['changed posts 1'], ['gone posts 1'], []])
    await world.send('PATCH', 'posts/1', { published: true }, EDITOR)
    expect([await editor.signals(1), await reader.signals(1), await other.signals()]).toEqual([['changed posts 1'], ['changed posts 1'], []])
    await world.send('PATCH', 'posts/1', { team: 2 }, EDITOR)
    expect([await editor.signals(1), await reader.signals(1), await other.signals(1)]).toEqual([['gone posts 1'], ['gone posts 1'], ['changed posts 1']])
  })

  it('says nothing if only fields change that the caller cannot read', async () => {
    const [editor, reader] = [await follow('posts', EDITOR), await follow('posts', READER)]
    await world.send('PATCH', 'posts/1', { note: 'internal' }, EDITOR)
    expect([await editor.signals(1), await reader.signals()]).toEqual([['changed posts 1'], []])
    await world.send('PATCH', 'posts/1', { note: 'internal' }, EDITOR)
    expect([await editor.signals(), await reader.signals()]).toEqual([[], []])
  })

  it('follows permanent deletes, their cascades, and links on both sides', async () => {
    const [reader, editor] = [await follow('posts,comments,tags', READER), await follow('posts,tags', EDITOR)]
    await world.send('POST', 'posts/1/relations/tags', { ids: ['a'] }, EDITOR)
    expect([await reader.signals(2), await editor.signals(2)]).toEqual([['changed posts 1', 'changed tags a'], ['changed posts 1', 'changed tags a']])
    await world.send('DELETE', 'comments/1', undefined, EDITOR)
    expect(await reader.signals(1)).toEqual(['gone comments 1'])
  })

  it('judges each row for each caller if a rule runs in code', async () => {
    const [reader, other] = [await follow('drafts', READER), await follow('drafts', OTHER)]
    await world.send('PATCH', 'drafts/1', { text: 'new' }, READER)
    expect([await reader.signals(1), await other.signals()]).toEqual([['changed drafts 1'], []])
    await world.send('PATCH', 'drafts/1', { owner: 3 }, READER)
    expect([await reader.signals(1), await other.signals(1)]).toEqual([['gone drafts 1'], ['changed drafts 1']])
    await world.send('DELETE', 'drafts/1', undefined, OTHER)
    expect([await reader.signals(), await other.signals(1)]).toEqual([[], ['gone drafts 1']])
  })
})

describe('a refused stream', () => {
  it.each([
    ['nothing', '', READER, 400, 'INVALID_QUERY'],
    ['an unknown resource', 'posts,nope', READER, 400, 'INVALID_QUERY'],
    ['a resource that an anonymous caller cannot read', 'posts', ANYONE, 401, 'UNAUTHENTICATED'],
  ])('of %s is %d', async (_, resources, caller, status, code) => {
    const { status: found, body } = await world.request('GET', `/api/_live?resources=${resources}`, { caller })
    expect([found, body.data?.code ?? body.code]).toEqual([status, code])
  })

  it('comes from a page of another site', async () => {
    const { status, body } = await world.request('GET', '/api/_live?resources=posts', { caller: READER, headers: { origin: 'https://evil.example' } })
    expect([status, body.data.code]).toEqual([403, 'CROSS_SITE'])
  })
})

describe('a client that connects again', () => {
  it('receives what it has missed, and a reset if that is unknown', async () => {
    const first = await follow('posts', READER)
    await world.send('PATCH', 'posts/1', { title: 'A' }, EDITOR)
    await first.signals()
    const { id } = first.events.at(-1)!
    first.close()
    await world.send('PATCH', 'posts/1', { title: 'B' }, EDITOR)
    await world.send('PATCH', 'posts/1', { note: 'internal' }, EDITOR)
    const again = await listen(world, 'posts', READER, { 'last-event-id': id! })
    open.push(again)
    expect(await again.signals(1)).toEqual(['changed posts 1'])
    const unknown = await listen(world, 'posts', READER, { 'last-event-id': 'AAAAAAAAAAAAAAAAAAAAAA' })
    open.push(unknown)
    expect(await unknown.signals(1)).toEqual(['reset'])
    const other = await listen(world, 'posts', EDITOR, { 'last-event-id': id! })
    open.push(other)
    expect(await other.signals(1)).toEqual(['reset'])
  })
})

describe('limits', () => {
  it('refuse a caller with too many streams with 429, and everyone if the server has too many with 503', async () => {
    world = await openFeed({ maxStreams: 2, maxStreamsPerCaller: 1 })
    const first = await follow('posts', READER)
    const second = await listen(world, 'posts', READER)
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '30'])
    await follow('posts', OTHER)
    expect((await listen(world, 'posts', EDITOR)).status).toBe(503)
    first.close()
    await first.signals()
    expect((await follow('posts', EDITOR)).status).toBe(200)
  })

  it('of time end a stream whose caller can no longer read', async () => {
    world = await openFeed({ recheck: 1 })
    const caller: Caller = { user: { id: 2, team: 1 } }
    const reader = await follow('posts', caller)
    caller.user = null
    const { data } = await reader.waitFor('end')
    expect(data).toEqual({ reason: 'unauthorized' })
  })
})
