/** Errors suggest the name that is meant, but never one that the caller may not know. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CALLER, openArticlesServer, type ArticlesServer } from './articles-server.ts'

let world: ArticlesServer
beforeAll(async () => {
  world = await openArticlesServer()
})
afterAll(() => world.client.close())

const message = async (path: string) => (await world.server.request('GET', `/api/${path}`, { caller: CALLER })).body.message as string
const filter = (value: object) => `articles?filter=${encodeURIComponent(JSON.stringify(value))}`

describe('an unknown name', () => {
  it.each([
    ['articles?sort=-viewss', 'views'],
    ['articles?fields=Title', 'title'],
    ['articles?sort=veiws', 'views'],
    [filter({ titel: 'x' }), 'title'],
    [filter({ autor: { id: 1 } }), 'author'],
    ['articles?include=autor', 'author'],
    ['articles?aggregate=max(viws)', 'views'],
    ['articles?groupBy=statsu', 'status'],
    ['authors?include=articles[viewz]', 'views'],
    [`articles/aggregate?aggregate=max(views)&having=${encodeURIComponent('{"max_view":{"$gt":1}}')}`, 'max_views'],
    ['articles/aggregate?groupBy=status&sort=statu', 'status'],
  ])('is close to a name that the caller can use: %s', async (path, meant) => {
    expect(await message(path)).toMatch(new RegExp(` Did you mean \`${meant}\`\\?$`))
  })

  it.each(['secre', 'secrets', 'Secret', 'salry', 'salary', 'Salary'])(
    'is close to a hidden or an unreadable name, which is not suggested: %s',
    async (name) => {
      for (const path of [
        `articles?sort=${name}`,
        `articles?fields=${name}`,
        filter({ [name]: 1 }),
        `articles?aggregate=max(${name})`,
        `articles?include=${name}`,
        `authors?include=articles[${name}]`,
      ])
        expect(await message(path)).not.toContain('Did you mean')
    },
  )
})
