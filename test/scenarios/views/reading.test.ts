/** A view is read like a table: lists, records, filters, orders, pages, aggregates and relations. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStats, type Stats } from './stats'

let stats: Stats
beforeAll(async () => {
  stats = await openStats()
})
afterAll(() => stats.close())

const read = async (path: string) => {
  const { status, body } = await stats.send('GET', path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const names = async (query: string) => (await read(`authorStats?${query}`)).data.map(({ name }: { name: string }) => name)

describe('the resource of a view', () => {
  it('lists its rows with the values of columns and expressions', async () => {
    expect(await read('authorStats?limit=2')).toEqual({
      data: [
        { authorId: 1, name: 'Ada', email: 'ada@x.test', organizationId: 1, posts: 2, views: 15, latest: '2023-11-14T22:13:20.000Z', active: true },
        { authorId: 2, name: 'Bea', email: 'bea@x.test', organizationId: 1, posts: 1, views: 7, latest: '2023-11-16T02:00:00.000Z', active: false },
      ],
      meta: { page: 1, limit: 2, total: 4 },
    })
  })

  it('has a record by the key of the registration, and by a key of two columns', async () => {
    expect(await read('authorStats/3?fields=name,views')).toEqual({ name: 'Cleo', views: 1 })
    expect((await stats.send('GET', 'authorStats/9')).status).toBe(404)
    expect(await read('writingDays/1,2023-11-14')).toEqual({ author: 1, day: '2023-11-14', total: 2 })
    expect((await stats.send('GET', 'writingDays/1,2023-11-15')).status).toBe(404)
  })

  it('filters and sorts by columns and by expressions', async () => {
    expect(await names('filter={"posts":{"$gte":1}}&sort=-views')).toEqual(['Ada', 'Bea', 'Cleo'])
    expect(await names('filter={"active":true}')).toEqual(['Ada', 'Cleo'])
    expect(await names('filter={"latest":{"$gt":"2023-11-15T00:00:00Z"}}')).toEqual(['Bea'])
    expect(await names('filter={"views":null}')).toEqual(['Dan'])
    expect(await names('filter={"name":{"$like":"a%"}}')).toEqual(['Ada'])
    expect((await stats.send('GET', 'authorStats?filter={"posts":"many"}')).status).toBe(400)
  })

  it('returns each row once in pages by cursor, over an expression that can be NULL', async () => {
    for (const sort of ['views', '-views', 'latest,-name']) {
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const { data, meta } = await read(`authorStats?limit=1&sort=${sort}&cursor=${encodeURIComponent(cursor)}`)
        seen.push(...data.map(({ name }: { name: string }) => name))
        cursor = meta.nextCursor
      }
      expect(seen).toEqual(await names(`sort=${sort}`))
      expect(seen.toSorted()).toEqual(['Ada', 'Bea', 'Cleo', 'Dan'])
    }
  })

  it('aggregates and groups its rows', async () => {
    expect(await read('authorStats/aggregate?aggregate=count,sum(posts),max(views)&groupBy=organizationId')).toEqual({
      data: [
        { group: { organizationId: 1 }, count: 2, sum_posts: 3, max_views: 15 },
        { group: { organizationId: 2 }, count: 2, sum_posts: 2, max_views: 1 },
      ],
      meta: { total: 2 },
    })
  })

  it('has the tag of its values, which follows the rows of the tables', async () => {
    const { headers } = await stats.send('GET', 'authorStats/4')
    const etag = headers.get('etag')!
    expect((await stats.send('GET', 'authorStats/4')).headers.get('etag')).toBe(etag)
    await stats.send('POST', 'posts', { title: 'new', views: 3, authorId: 4 })
    const after = await stats.send('GET', 'authorStats/4')
    expect(after.body).toMatchObject({ posts: 1, views: 3 })
    expect(after.headers.get('etag')).not.toBe(etag)
  })
})

describe('a view with `references`', () => {
  it('has a to-one relation to the resource, and that has a relation to the view', async () => {
    expect(await read('authorStats/1?fields=posts&include=author[name]')).toMatchObject({ posts: 2, author: { name: 'Ada' } })
    // The column is the whole key of the view, so that an author has one row at most.
    expect(await read('authors/1?fields=name&include=authorStats[views]')).toMatchObject({ name: 'Ada', authorStats: { views: 15 } })
    // The other key has a second column.
    expect((await read('authors/2?include=writingDays')).writingDays).toEqual([{ author: 2, day: '2023-11-16', total: 1 }])
  })

  it('can be filtered by the other side, and filters the other side', async () => {
    expect(await names('filter={"author":{"name":"Bea"}}')).toEqual(['Bea'])
    const { data } = await read('authors?filter={"authorStats":{"views":{"$gt":5}}}&sort=name')
    expect(data.map(({ name }: { name: string }) => name)).toEqual(['Ada', 'Bea'])
  })

  it('does not repeat the rows of the other side, if its key is not unique by mistake', async () => {
    const mistaken = await openStats({ postList: { key: 'authorId', references: { authorId: 'authors' } } })
    const { body } = await mistaken.send('GET', 'authors?sort=id&include=postList[authorId]')
    expect(body.data.map(({ id, postList }: { id: number, postList: object | null }) => [id, postList !== null])).toEqual([
      [1, true], [2, true], [3, true], [4, false],
    ])
    mistaken.close()
  })

  it('is found with the related rows of a record', async () => {
    expect((await read('authors/1/relations/writingDays')).data).toEqual([{ author: 1, day: '2023-11-14', total: 2 }])
  })
})

describe('a view with a column `deletedAt`', () => {
  it('leaves out the rows in the trash, and shows them only with the permission', async () => {
    const ids = async (query = '') => (await read(`postList?sort=id${query}`)).data.map(({ id }: { id: number }) => id)
    const active = await ids()
    expect(active).not.toContain(5)
    expect((await stats.send('GET', 'postList/5')).status).toBe(404)
    expect((await stats.send('GET', 'postList?includeDeleted=true')).status).toBe(403)
    const open = await openStats({ postList: { authorization: { permissions: { read: true, viewDeleted: true } } } })
    const { body } = await open.send('GET', 'postList?onlyDeleted=true')
    expect(body.data).toMatchObject([{ id: 5, author: 'Cleo' }])
    open.close()
  })
})
