/** How the audit log shows changes, and its range of time. */
import { describe, expect, it } from 'vitest'
import { changedFields, kindLabel, KINDS, lookOf, ownTitle } from '../../../src/runtime/plugins/audit-log/admin/kinds'
import { refsOf } from '../../../src/runtime/plugins/audit-log/admin/refs'
import { MESSAGES } from '../../../src/runtime/plugins/audit-log/admin/messages'
import { endText, startOf, toIso } from '../../../src/runtime/plugins/audit-log/admin/range'

describe('a change', () => {
  const t = (key: string) => (MESSAGES as Readonly<Record<string, string>>)[key]!

  it('has a word and a color, also a verb of the app', () => {
    expect(KINDS.map(kind => kindLabel(kind, t))).toEqual(['Created', 'Updated', 'Deleted', 'Restored', 'Deleted for good', 'Linked', 'Unlinked'])
    expect([kindLabel('sent_out', t), lookOf('sent_out').color]).toEqual(['Sent out', 'neutral'])
    expect([lookOf('delete'), lookOf('purge')]).toEqual([{ color: 'error', variant: 'subtle' }, { color: 'error', variant: 'solid' }])
  })

  it('names two of its fields, and counts the others', () => {
    const label = (name: string) => name.toUpperCase()
    expect(changedFields({ kind: 'update', columns: ['a', 'b', 'c', 'd'] }, label)).toBe('A, B +2')
    expect(changedFields({ kind: 'update', columns: ['a', 'b'] }, label)).toBe('A, B')
    expect(changedFields({ kind: 'update', columns: ['a', 'at', 'b'] }, name => name === 'at' ? undefined : label(name))).toBe('A, B')
    expect(changedFields({ kind: 'create', columns: ['a'] }, label)).toBe('')
    expect(changedFields({ kind: 'update', columns: null }, label)).toBe('')
  })

  it('of a record that is gone contains its title', () => {
    expect(ownTitle({ before: { title: ' Old ' }, after: null }, 'title')).toBe('Old')
    expect(ownTitle({ before: { title: 'Old' }, after: { title: 'New' } }, 'title')).toBe('New')
    expect(ownTitle({ before: { title: 'Old' }, after: null }, undefined)).toBeUndefined()
  })

  it('refers to its record and to its user, if the users are known', () => {
    const entry = { resource: 'posts', recordId: '1', userId: '2' } as never
    expect(refsOf([entry], 'members')).toEqual([{ resource: 'posts', id: '1' }, { resource: 'members', id: '2' }])
    expect(refsOf([entry], undefined)).toEqual([{ resource: 'posts', id: '1' }])
  })
})

describe('a range of time', () => {
  it('begins with a day', () => {
    const now = new Date(2026, 2, 1, 17, 43)
    expect([startOf(1, now), startOf(7, now)]).toEqual(['2026-03-01T00:00', '2026-02-23T00:00'])
  })

  it('shows the time of its ends unless it is midnight, and leaves out what is no date', () => {
    expect(endText('2026-03-01T00:00', 'en')).toBe('Mar 1, 2026')
    expect(endText('2026-03-01T17:43', 'en')).toMatch(/^Mar 1, 2026, 5:43\sPM$/)
    expect([endText('x', 'en'), toIso('x'), toIso('')]).toEqual([undefined, undefined, undefined])
    expect([toIso('2026-03-01T17:43', 'UTC'), toIso('2026-03-01', 'UTC')]).toEqual(['2026-03-01T17:43:00.000Z', '2026-03-01T00:00:00.000Z'])
    expect(toIso('2026-03-01T17:43Z')).toBe('2026-03-01T17:43:00.000Z')
  })
})
