/** The names of many records with one request. */
import { describe, expect, it } from 'vitest'
import { namesOf, namesRequest } from '../../../src/runtime/admin/model/names'
import { resource, text } from './described'

const capabilities = { ...resource({}).capabilities, canViewDeleted: false }
const id = { kind: 'integer', primaryKey: true, operators: ['$eq', '$in'] } as const
const posts = resource({ id, title: text(), body: text() }, { capabilities })

describe('the request for the names of records', () => {
  it('is one list with the keys of all records, and nothing else of them', () => {
    expect(namesRequest(posts, ['2', 1, '2', '1'])).toEqual({
      fields: ['id', 'title'], filter: { id: { $in: [1, 2] } }, limit: 2, page: 1, count: 'none',
    })
    expect(namesRequest(resource({ id: text({ ...id, kind: 'text' }), name: text() }, { capabilities }), ['a,b'])).toMatchObject({
      filter: { id: { $in: ['a,b'] } },
    })
  })

  it('includes the trash for callers who see it, and has a chosen field', () => {
    expect(namesRequest(resource({ id, title: text() }), [1])).toMatchObject({ includeDeleted: true })
    expect(namesRequest(posts, [1], 100, 'body')).toMatchObject({ fields: ['id', 'title', 'body'] })
  })

  it('has no more keys than a page, and none that do not fit the column', () => {
    expect(namesRequest(posts, [1, 2, 3, 'x', '1.5'], 2)).toMatchObject({ filter: { id: { $in: [1, 2] } }, limit: 2 })
    expect(namesRequest(posts, ['x'])).toBeUndefined()
  })

  it.each([
    ['there are no records', posts, []],
    ['the caller cannot read them', resource({ id, title: text() }, { capabilities: { ...capabilities, canRead: false } }), [1]],
    ['they have no name', resource({ id }, { capabilities }), [1]],
    ['their key has several columns', resource({ id, part: id, title: text() }, { capabilities }), [1]],
    ['the API cannot find several keys', resource({ id: { ...id, operators: ['$eq'] }, title: text() }, { capabilities }), [1]],
    ['their key is secret', resource({ id: { ...id, readable: false }, title: text() }, { capabilities }), [1]],
  ])('is not sent if %s', (_why, of, ids) => {
    expect(namesRequest(of, ids)).toBeUndefined()
  })

  it('names each record by its title, or by its key', () => {
    const rows = [{ id: 1, title: 'Harbour' }, { id: 2, title: '' }]
    expect([...namesOf(posts, rows)]).toEqual([['1', 'Harbour'], ['2', 'Posts 2']])
    expect([...namesOf(posts, [{ id: 1, title: 'Harbour', body: 'Ada' }, { id: 2, title: 'T', body: null }], 'body')]).toEqual([['1', 'Ada'], ['2', 'T']])
  })
})
