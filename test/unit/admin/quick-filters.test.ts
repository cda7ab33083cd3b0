/** The menus of a list that filter by the values of a field. */
import { describe, expect, it } from 'vitest'
import { readFilters, toFilter, type Filter } from '../../../src/runtime/admin/model/filters'
import { quickFields, quickFilterOf, quickValues, toggleQuickValue } from '../../../src/runtime/admin/model/quick-filters'
import { resource, text } from './described'

const yesOrNo = { kind: 'boolean', operators: ['$eq', '$in'] } as const

const posts = resource({
  title: text(),
  featured: yesOrNo,
  status: text({ enum: ['draft', 'published', 'archived'] }),
  hidden: text({ enum: ['a', 'b'], readable: false }),
  plain: text({ enum: ['a', 'b'], operators: ['$eq'] }),
  odd: text({ enum: ['a,b', 'c'] }),
  single: text({ enum: ['only'] }),
  fixed: { kind: 'boolean', operators: [] },
  pinned: yesOrNo,
})
const [status, plain, featured] = quickFields(posts)

const draft: Filter = { field: 'status', operator: '$eq', value: 'draft' }
const titled: Filter = { field: 'title', operator: '$like', value: 'a' }

describe('the quick filters of a list', () => {
  it('are up to three fields that can be filtered by value, enums first', () => {
    expect(quickFields(posts)).toEqual([
      { name: 'status', operator: '$in', values: ['draft', 'published', 'archived'], several: true },
      { name: 'plain', operator: '$eq', values: ['a', 'b'], several: false },
      { name: 'featured', operator: '$eq', values: ['true', 'false'], several: false },
    ])
  })

  it('leave out enums with too many values', () => {
    const many = Array.from({ length: 31 }, (_, index) => `value-${index}`)
    expect(quickFields(resource({ status: text({ enum: many }) }))).toEqual([])
  })

  it('select several values in the order of the menu, and none without a filter', () => {
    const one = toggleQuickValue([titled], status!, 'archived')
    expect(one).toEqual([titled, { field: 'status', operator: '$in', value: 'archived' }])
    const two = toggleQuickValue(one, status!, 'draft')
    expect(two).toEqual([titled, { field: 'status', operator: '$in', value: 'draft,archived' }])
    expect(quickValues(quickFilterOf(two, status!))).toEqual(['draft', 'archived'])
    expect(toFilter(two, '', [], posts)).toEqual({ title: { $like: '%a%' }, status: { $in: ['draft', 'archived'] } })
    const none = ['archived', 'draft'].reduce((filters, value) => toggleQuickValue(filters, status!, value), two)
    expect(none).toEqual([titled])
  })

  it('replace the value of a field that accepts one', () => {
    const yes = toggleQuickValue([], featured!, 'true')
    expect(yes).toEqual([{ field: 'featured', operator: '$eq', value: 'true' }])
    expect(toggleQuickValue(yes, featured!, 'false')).toEqual([{ field: 'featured', operator: '$eq', value: 'false' }])
    expect(toggleQuickValue(yes, featured!, 'true')).toEqual([])
    expect(toggleQuickValue(toggleQuickValue([], plain!, 'a'), plain!, 'b')).toEqual([{ field: 'plain', operator: '$eq', value: 'b' }])
  })

  it('show and change a filter of the URL at its place, with either operator', () => {
    expect(quickFilterOf([titled, draft], status!)).toBe(draft)
    expect(toggleQuickValue([draft, titled], status!, 'published'))
      .toEqual([{ field: 'status', operator: '$in', value: 'draft,published' }, titled])
  })

  it.each([
    ['alternatives', ['status:$eq:draft', 'or:featured:$eq:true']],
    ['other conditions', ['status:$ne:draft', 'title:$like:a']],
  ])('leave %s alone', (_, parameters) => {
    const filters = readFilters(parameters, posts)
    expect(filters).toHaveLength(2)
    expect(quickFilterOf(filters, status!)).toBeUndefined()
    expect(toggleQuickValue(filters, status!, 'draft')).toEqual([...filters, { field: 'status', operator: '$in', value: 'draft' }])
  })
})
