import { describe, expect, it } from 'vitest'
import { toExact, toNear } from '../../../src/runtime/admin/model/time'
import { valueColor, valueLabel } from '../../../src/runtime/admin/model/values'

const field = { metadata: {} }

describe('the text of a value of an enum', () => {
  it.each([
    ['published', 'Published'],
    ['in_review', 'In review'],
    ['in-review', 'In review'],
    ['inReview', 'In review'],
    ['Bed and breakfast', 'Bed and breakfast'],
    ['USD', 'USD'],
    ['4xl', '4xl'],
    ['', ''],
    ['constructor', 'Constructor'],
  ])('%s is %s', (value, text) => expect(valueLabel(value, field)).toBe(text))

  it('comes from the options of the admin, then from the metadata', () => {
    const described = { metadata: { labels: { draft: 'Not published', published: 'Online' } } }
    expect(valueLabel('draft', described)).toBe('Not published')
    expect(valueLabel('draft', described, { labels: { draft: 'Entwurf' } })).toBe('Entwurf')
    expect(valueLabel('published', described, { labels: { draft: 'Entwurf' } })).toBe('Online')
  })

  it('ignores metadata of another shape', () => {
    for (const labels of [1, null, 'text', ['draft'], { draft: 1 }]) expect(valueLabel('draft', { metadata: { labels } })).toBe('Draft')
  })
})

describe('the color of a value of an enum', () => {
  it.each([['published', 'success'], ['in_review', 'warning'], ['rejected', 'error'], ['draft', 'neutral'], ['blue', 'neutral']])(
    '%s is %s', (value, color) => expect(valueColor(value, field)).toBe(color))

  it('comes from the options of the admin, then from the metadata', () => {
    const described = { metadata: { colors: { draft: 'info' } } }
    expect(valueColor('draft', described)).toBe('info')
    expect(valueColor('draft', described, { colors: { draft: 'primary' } })).toBe('primary')
  })
})

describe('a time', () => {
  const now = Date.parse('2026-03-12T12:00:00Z')

  it.each([
    ['2026-03-12T11:00:00Z', '1 hour ago'],
    ['2026-03-06T12:00:01Z', '6 days ago'],
    ['2026-03-05T12:00:00Z', 'Mar 5, 2026'],
    ['2026-03-18T12:00:00Z', 'in 6 days'],
    ['2025-04-12T12:00:00Z', 'Apr 12, 2025'],
    ['never', 'never'],
  ])('%s is %s', (date, text) => expect(toNear(date, now, 'en', 'UTC')).toBe(text))

  it('has the time of day in its exact form', () => {
    expect(toExact('2026-03-12T17:43:20Z', 'de', 'UTC')).toBe('12.03.2026, 17:43')
    expect(toExact('never')).toBe('never')
  })
})
