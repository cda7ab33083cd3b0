/** The numbers of the overview: one request for each resource. */
import { describe, expect, it } from 'vitest'
import { countRequest, newestField, partField, shadesOf, toBreakdown } from '../../../src/runtime/admin/views/overview/breakdown'
import { resource, text } from './described'

const status = text({ enum: ['draft', 'published', 'archived'], sortable: true })
const createdAt = { kind: 'date', role: 'createdAt', aggregates: ['count', 'min', 'max'] } as const
const posts = resource({ kind: text({ enum: ['a', 'b'] }), status, createdAt })

describe('the numbers of a resource', () => {
  it('are those of each status, else of the first field with few values', () => {
    expect(partField(posts)).toBe('status')
    expect(partField(resource({ kind: text({ enum: ['a', 'b'] }) }))).toBe('kind')
    const many = text({ enum: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] })
    const unfit = { many, one: text({ enum: ['a'] }), secret: { ...status, readable: false }, lazy: { ...status, lazy: true as const } }
    expect(partField(resource({ ...unfit, free: text() }))).toBeUndefined()
  })

  it('come from one request, with the time of the newest record', () => {
    expect(countRequest(posts)).toEqual({ aggregate: ['count', 'max(createdAt)'], groupBy: ['status'], limit: 8 })
    expect(countRequest(resource({ name: text() }))).toEqual({ aggregate: ['count'] })
    expect(newestField(resource({ createdAt: { ...createdAt, readable: false } }))).toBeUndefined()
  })

  it('are added up, in the order of the values, without those that no record has', () => {
    const data = [
      { group: { status: null }, count: 1, max_createdAt: null },
      { group: { status: 'published' }, count: 4, max_createdAt: '2026-02-01T00:00:00.000Z' },
      { group: { status: 'draft' }, count: 2, max_createdAt: '2026-03-01T00:00:00.000Z' },
      { group: { status: 'archived' }, count: 0, max_createdAt: null },
    ]
    expect(toBreakdown(posts, { data, meta: { total: 4 } })).toEqual({
      total: 7,
      parts: [{ value: 'draft', count: 2 }, { value: 'published', count: 4 }, { value: null, count: 1 }],
      newest: '2026-03-01T00:00:00.000Z',
    })
    const tags = resource({ name: text() })
    expect(toBreakdown(tags, { data: [{ count: 3 }], meta: { total: 1 } })).toEqual({ total: 3, parts: [], newest: undefined })
  })

  it('have colors that differ', () => {
    const shades = shadesOf(['neutral', 'success', 'neutral'])
    expect(shades).toEqual(['var(--ui-color-neutral-500)', 'var(--ui-color-success-500)', 'var(--ui-color-neutral-300)'])
  })
})
