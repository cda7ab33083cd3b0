/** The rows of a view change without a write to the view: the cache stores them only if the registration names what changes them. */
import { afterEach, describe, expect, it } from 'vitest'
import { responseCache } from '../../../src/runtime/plugins'
import { invalidateCache } from '../../../src/runtime/server/utils'
import { openStats, type Stats } from '../../scenarios/views/stats'

let stats: Stats
afterEach(() => stats.close())

const open = async (tracks?: readonly string[]) => {
  stats = await openStats(tracks ? { authorStats: { tracks } } : {}, { plugins: [responseCache()] })
}
/** The state of the cache, and the body. */
const read = async (path: string) => {
  const { body, headers } = await stats.send('GET', path)
  return [headers.get('cache-status')?.includes('; hit;') === true, body] as const
}
const isHit = async (path: string) => (await read(path))[0]

/** Reads of the view: its own, an include, a relation filter and related rows. */
const PATHS = [
  'authorStats', 'authorStats/1', 'authorStats/aggregate?aggregate=sum(posts)', 'authors?include=authorStats',
  'authors?filter={"authorStats":{"posts":{"$gt":0}}}',
]

describe('a view without `tracks`', () => {
  it.each(PATHS)('is read from the database each time: %s', async (path) => {
    await open()
    await read(path)
    expect(await isHit(path)).toBe(false)
  })

  it('does not prevent that other responses are stored', async () => {
    await open()
    await read('authors')
    expect(await isHit('authors')).toBe(true)
  })
})

describe('a view with `tracks`', () => {
  it.each(PATHS)('is stored until a commit of a resource that it names: %s', async (path) => {
    await open(['authors', 'posts'])
    const [, before] = await read(path)
    expect(await read(path)).toEqual([true, before])
    await stats.send('POST', 'posts', { title: 'new', views: 1, authorId: 1 })
    const [hit, after] = await read(path)
    expect(hit).toBe(false)
    expect(path.includes('$gt') || JSON.stringify(after) !== JSON.stringify(before)).toBe(true)
  })

  it('is not outdated by other resources', async () => {
    await open(['posts'])
    await read('authorStats')
    await stats.send('POST', 'authors', { name: 'Eve', email: 'e', organizationId: 1 })
    expect(await isHit('authorStats')).toBe(true)
  })

  it('is outdated by its own name, for example after the refresh of a materialized view', async () => {
    await open(['posts'])
    await read('authorStats')
    await invalidateCache('authorStats')
    expect(await isHit('authorStats')).toBe(false)
  })
})
