/** Lists sorted by a field of a to-one relation, and by numbers of related records. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CALLER, openCounts, type CountServer } from './counts-server'

let server: CountServer

beforeEach(async () => {
  server = await openCounts()
})
afterEach(() => server.client.close())

const ask = (path: string, permissions: string[] = []) => server.request('GET', `/api/${path}`, { caller: { ...CALLER, permissions } })

async function idsOf(path: string, permissions?: string[]): Promise<number[]> {
  const { status, body } = await ask(path, permissions)
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return body.data.map(({ id }: { id: number }) => id)
}

/** All pages of a list by cursor. */
async function walk(path: string, limit: number): Promise<number[]> {
  const ids: number[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await ask(`${path}&limit=${limit}&cursor=${encodeURIComponent(cursor)}`)
    ids.push(...body.data.map(({ id }: { id: number }) => id))
    cursor = body.meta.nextCursor
  }
  return ids
}

describe('a list', () => {
  // Posts 1 and 2 are by Ada, whose boss is nobody; post 3 is by Bob, whose boss is Ada; post 6 has no author.
  it.each([
    ['posts?sort=author.name', [1, 2, 3, 6]],
    ['posts?sort=-author.name', [6, 3, 2, 1]],
    ['posts?sort=author.name,-title', [2, 1, 3, 6]],
    ['posts?sort=author.boss.name', [3, 1, 2, 6]],
    ['posts?sort=-author.boss.name', [6, 2, 1, 3]],
    ['posts?sort=author.name,-author.name,title', [1, 2, 3, 6]],
    // Comment 7 is on a post in the trash, so it sorts like one without a post.
    ['comments?sort=post.title', [1, 2, 6, 7]],
    ['comments?sort=-post.title', [7, 6, 2, 1]],
    ['comments?sort=post.author.name,-id', [6, 2, 1, 7]],
    ['posts?sort=-comments.$count', [1, 2, 6, 3]],
    ['posts?sort=comments.$count', [3, 6, 2, 1]],
    ['posts?sort=tags.$count,id', [3, 6, 2, 1]],
    ['posts?sort=-users.$count,id', [1, 2, 3, 6]],
    ['users?sort=-postsByAuthor.$count', [1, 2, 4, 3]],
    ['posts?sort=-author.users.$count,id', [6, 1, 2, 3]],
  ])('%s has its order in both modes', async (path, expected) => {
    expect(await idsOf(path)).toEqual(expected)
    for (const limit of [1, 2, 3]) {
      expect(await walk(path, limit)).toEqual(expected)
      const pages = await Promise.all([1, 2, 3, 4].map(page => idsOf(`${path}&limit=${limit}&page=${page}`)))
      expect(pages.flat().slice(0, expected.length)).toEqual(expected)
    }
  })

  it('reads its rows and their order in one statement, and shows none of what it sorts by', async () => {
    server.sent.length = 0
    const { body } = await ask('posts?sort=author.name,-comments.$count&fields=id,title&cursor=&limit=1')
    expect(server.sent).toHaveLength(1)
    expect(body.data).toEqual([{ id: 1, title: 'a' }])
    expect((await ask('posts?sort=author.name&fields=id&include=author,comments{limit:1}&cursor=&limit=1')).body.data).toEqual([{
      id: 1,
      author: { id: 1, name: 'Ada', bossId: null },
      comments: [expect.objectContaining({ id: 1 })],
    }])
  })

  it('of the records of a relation is sorted in the same way', async () => {
    expect(await idsOf('users/1/relations/postsByAuthor?sort=-comments.$count')).toEqual([1, 2])
    expect(await idsOf('users/1/relations/postsByAuthor?sort=comments.$count')).toEqual([2, 1])
  })

  it('of included records is sorted in the same way', async () => {
    const shown = async (sort: string, limit?: number) => {
      const include = encodeURIComponent(JSON.stringify({ users: { sort, fields: ['id'], ...limit && { limit } } }))
      return (await ask(`posts/1?fields=id&include=${include}`)).body.users.map(({ id }: { id: number }) => id)
    }
    // Two links lead to Ada.
    expect(await shown('boss.name')).toEqual([2, 1, 1])
    expect(await shown('-boss.name')).toEqual([1, 1, 2])
    expect(await shown('-boss.name', 1)).toEqual([1])
    expect(await shown('postsByAuthor.$count')).toEqual([2, 1, 1])
  })
})

describe('a record that the caller cannot see', () => {
  it.each(['comments?sort=post.title', 'comments?sort=-post.title', 'comments?sort=post.author.name'])('changes no byte of %s', async (path) => {
    const texts = async () => [await ask(path), await ask(`${path}&limit=2&cursor=`)].map(({ text }) => text)
    const before = await texts()
    server.client.exec(`update posts set title = 'A', author_id = 2 where id in (4, 5)`)
    expect(await texts()).toEqual(before)
  })

  it.each(['posts?sort=comments.$count', 'posts?sort=tags.$count', 'posts?sort=users.$count'])('is not counted by %s', async (path) => {
    const before = (await ask(path)).text
    server.client.exec(`
      insert into comments values (20, 1, 6, 'spam', null), (21, 2, 6, 'open', null), (22, 1, 6, 'open', 9);
      insert into post_tags values (6, 3);
      insert into reviews values (20, 6, 1, 'void');
    `)
    expect((await ask(path)).text).toEqual(before)
    expect(await idsOf('posts?sort=-comments.$count', ['spam'])).toEqual([1, 6, 3, 2])
  })
})

describe('a request is refused', () => {
  it.each([
    ['posts?sort=author.nam', 'UNKNOWN_FIELD', '"author.nam". Did you mean `author.name`?'],
    ['posts?sort=autor.name', 'UNKNOWN_FIELD', '"autor.name". Did you mean `author.name`?'],
    ['posts?sort=author.boss.nam', 'UNKNOWN_FIELD', 'Did you mean `author.boss.name`?'],
    ['posts?sort=author.', 'UNKNOWN_FIELD', '"author."'],
    ['posts?sort=.name', 'UNKNOWN_FIELD', '".name"'],
    ['posts?sort=title.x', 'UNKNOWN_FIELD', '"title.x"'],
    ['posts?sort=ghost.name', 'UNKNOWN_FIELD', '"ghost.name"'],
    ['posts?sort=editor.name', 'UNKNOWN_FIELD', '"editor.name"'],
    ['posts?sort=author.toString', 'UNKNOWN_FIELD', '"author.toString"'],
    ['posts?sort=__proto__.name', 'UNKNOWN_FIELD', '"__proto__.name"'],
    ['posts?sort=$count', 'UNKNOWN_FIELD', '"$count"'],
    ['posts?sort=author.$count', 'UNKNOWN_FIELD', '"author.$count"'],
    ['posts?sort=comments.status', 'INVALID_QUERY', '"comments" is a list'],
    ['posts?sort=comments.$count.id', 'INVALID_QUERY', '"comments" is a list'],
    ['posts?sort=vaults.$count', 'INVALID_QUERY', 'because code checks the records of "vaults"'],
    ['coins?sort=vault.id', 'INVALID_QUERY', 'because code checks the records of "vault"'],
    ['users?sort=boss.boss.boss.boss.name', 'LIMIT_EXCEEDED', 'goes deeper than 3 relations'],
    ['posts?cursorFields=author.name', 'UNKNOWN_FIELD', '`cursorFields`'],
    ['posts/aggregate?aggregate=count&groupBy=title&sort=author.name', 'UNKNOWN_FIELD', 'sort'],
  ])('%s: %s', async (path, code, message) => {
    server.sent.length = 0
    const { status, body } = await ask(path)
    expect([status, body.data.code]).toEqual([400, code])
    expect(body.message).toContain(message)
    expect(server.sent).toEqual([])
  })

  it('when its orders and filters name too many relations', async () => {
    const sort = ['', '-'].flatMap(sign => ['name', 'id', 'bossId'].map(name => `${sign}boss.boss.boss.${name}`))
    const { status, body } = await ask(`users?sort=${sort.join(',')}`)
    expect(status).toBe(200)
    const filter = encodeURIComponent(JSON.stringify({ boss: { boss: { name: 'x' } }, $or: Array.from({ length: 10 }, () => ({ boss: { name: 'x' } })) }))
    expect((await ask(`users?sort=boss.boss.boss.name,boss.boss.boss.id,boss.boss.boss.bossId&filter=${filter}`)).body.data.code).toBe('LIMIT_EXCEEDED')
    expect(body.data).toHaveLength(4)
  })

  it('with 403 if the caller cannot read the related resource, after every 400', async () => {
    expect((await ask('posts?sort=secrets.$count')).status).toBe(403)
    expect((await ask('posts?sort=secrets.$count', ['secrets'])).status).toBe(200)
    expect((await ask('posts?sort=secrets.$count,nothing')).status).toBe(400)
    const include = encodeURIComponent(JSON.stringify({ postsByAuthor: { sort: 'secrets.$count' } }))
    expect((await ask(`users?include=${include}`)).status).toBe(403)
  })

  it('with a cursor of another order', async () => {
    const { nextCursor } = (await ask('posts?sort=author.name&limit=1&cursor=')).body.meta
    for (const sort of ['-author.name', 'editor.name', 'title', 'author.id', 'comments.$count'])
      expect((await ask(`posts?sort=${sort}&cursor=${nextCursor}`, ['editors'])).body.data.code).toBe('INVALID_CURSOR')
    expect((await ask(`posts?sort=author.name&cursor=${nextCursor}`)).status).toBe(200)
  })
})

it('a field with a rule sorts for callers who can read it', async () => {
  expect(await idsOf('posts?sort=editor.name', ['editors'])).toEqual([1, 2, 3, 6])
})
