/** The ids of events: only the process that has made an id finds its position, and no two ids are equal. */
import { describe, expect, it } from 'vitest'
import { createEventIds } from '../../../src/runtime/plugins/live/server/event-id'

const ids = createEventIds()

describe('the id of an event', () => {
  it.each([0, 1, 2 ** 31, 2 ** 48 - 1])('has the position %i', (position) => {
    expect(ids.toPosition(ids.toId(position))).toBe(position)
  })

  it('is another one each time, of the same length', () => {
    const made = Array.from({ length: 100 }, () => ids.toId(7))
    expect(new Set(made).size).toBe(100)
    expect(new Set(made.map(({ length }) => length)).size).toBe(1)
  })

  it('is refused with any changed byte', () => {
    const bytes = Buffer.from(ids.toId(7), 'base64url')
    const changed = Array.from(bytes, (_, at) => Buffer.from(bytes.map((byte, index) => index === at ? byte ^ 1 : byte)).toString('base64url'))
    expect(changed.map(ids.toPosition).filter(position => position !== undefined)).toEqual([])
  })

  it.each(['', 'x', 'A'.repeat(22), 'A'.repeat(46), 'A'.repeat(1_000)])('is not %j', (id) => {
    expect(ids.toPosition(id)).toBeUndefined()
  })

  it('is refused by another process', () => {
    expect(createEventIds().toPosition(ids.toId(7))).toBeUndefined()
  })
})
