/** The filters of a list in the admin: from the URL to the request. */
import { describe, expect, it } from 'vitest'
import {
  addFilter, escape, operatorsOf, readFilters, removeFilter, searchableFields, toFilter, toParameter, type Filter,
} from '../../../src/runtime/admin/model/filters'
import { resource, text } from './described'

const posts = resource({
  id: { kind: 'integer', primaryKey: true, operators: ['$eq', '$in'] },
  title: text(),
  body: text(),
  status: text({ enum: ['draft', 'published'] }),
  views: { kind: 'integer', operators: ['$eq', '$gt', '$in'] },
  featured: { kind: 'boolean', operators: ['$eq', '$ne', '$in', '$nin'] },
  publishedAt: { kind: 'date', nullable: true, operators: ['$eq', '$gt', '$lt', '$null'] },
  secret: text({ readable: false, searchable: true }),
})

describe('the filters of a URL', () => {
  it.each([
    'status:$eq:draft',
    'status:$in:draft,published',
    'views:$gt:10',
    'featured:$eq:true',
    'publishedAt:$null:false',
    'publishedAt:$gt:2026-01-01',
    'title:$like:a:b:c',
  ])('are read and written: %s', (parameter) => {
    const filters = readFilters(parameter, posts)
    expect(filters.map(toParameter)).toEqual([parameter])
  })

  it.each([
    ['an unknown field', 'nothing:$eq:1'],
    ['a name of every object', 'constructor:$eq:1'],
    ['an unknown operator', 'status:$regex:.*'],
    ['an operator that the field does not accept', 'featured:$gt:true'],
    ['a value outside of the enum', 'status:$eq:gone'],
    ['a number that is text', 'views:$gt:many'],
    ['a date that is text', 'publishedAt:$gt:soon'],
    ['an empty list', 'views:$in:,'],
    ['no value', 'views:$gt:'],
    ['no operator', 'views'],
  ])('leave out %s, because the server would refuse the whole list', (_, parameter) => {
    expect(readFilters(['status:$eq:draft', parameter], posts)).toEqual([{ field: 'status', operator: '$eq', value: 'draft' }])
  })
})

describe('the request of a list', () => {
  it('has the values of the filters in their wire format', () => {
    const filters = readFilters(
      ['views:$in:1, 2', 'featured:$eq:false', 'publishedAt:$gt:2026-01-01T00:00:00.000Z', 'publishedAt:$null:false'],
      posts,
    )
    expect(toFilter(filters, '', [], posts)).toEqual({
      views: { $in: [1, 2] },
      featured: { $eq: false },
      publishedAt: { $gt: '2026-01-01T00:00:00.000Z', $null: false },
    })
  })

  it('searches the title first, and only fields that the caller can read and search', () => {
    expect(searchableFields(posts, 'body', 2)).toEqual(['body', 'title'])
    expect(searchableFields(resource({ html: text({ lazy: true }), title: text() }), 'title', 2)).toEqual(['title'])
    expect(toFilter([], ' harbour ', ['title'], posts)).toEqual({ $or: [{ title: { $like: '%harbour%' } }] })
    expect(toFilter([], '  ', ['title'], posts)).toEqual({})
  })

  it('takes the wildcards of a search as text', () => {
    expect(escape('50%_\\')).toBe('50\\%\\_\\\\')
  })
})

describe('alternatives', () => {
  const URL = ['status:$eq:draft', 'or:views:$gt:10', 'or:views:$eq:1', 'featured:$eq:true']
  const filters = readFilters(URL, posts)

  it('are read and written, and become branches of `$or` beside the search', () => {
    expect(filters.map(toParameter)).toEqual(URL)
    expect(toFilter(filters, 'a', ['title'], posts)).toEqual({
      featured: { $eq: true },
      $and: [{ $or: [{ status: { $eq: 'draft' } }, { views: { $gt: 10 } }, { views: { $eq: 1 } }] }],
      $or: [{ title: { $like: '%a%' } }],
    })
  })

  it('are left out with their group if the API has no groups, and the first filter is none', () => {
    expect(readFilters(['or:status:$eq:draft', 'or:views:$gt:1'], posts).map(toParameter)).toEqual(['status:$eq:draft', 'or:views:$gt:1'])
    expect(readFilters(['views:$eq:2', ...URL.slice(0, 2), 'featured:$eq:true'], posts, false).map(toParameter))
      .toEqual(['views:$eq:2', 'featured:$eq:true'])
  })

  it('are added to their group, and the next one takes the place of a removed first', () => {
    const one: Filter = { field: 'title', operator: '$like', value: 'a' }
    expect(addFilter(filters, one, filters[2]).map(toParameter)).toEqual([...URL.slice(0, 3), 'or:title:$like:a', URL[3]])
    expect(addFilter(filters, { field: 'featured', operator: '$eq', value: 'false' }).map(toParameter))
      .toEqual([...URL.slice(0, 3), 'featured:$eq:false'])
    expect(removeFilter(filters, filters[0]!).map(toParameter)).toEqual(['views:$gt:10', 'or:views:$eq:1', 'featured:$eq:true'])
    expect(removeFilter(filters, filters[3]!).map(toParameter)).toEqual(URL.slice(0, 3))
  })
})

describe('the conditions that a person chooses from', () => {
  it.each([
    ['status', ['$eq', '$ne', '$in', '$nin']],
    ['featured', ['$eq']],
    ['publishedAt', ['$gt', '$lt', '$null']],
    ['views', ['$eq', '$gt', '$in']],
  ])('make sense for %s', (name, expected) => {
    expect(operatorsOf(posts.fields[name]!)).toEqual(expected)
  })
})
