/** The cells of the view of the permissions. */
import { expect, it } from 'vitest'
import { CAPABILITIES, cellOf } from '../../../src/runtime/admin/views/permissions/cells'
import type { DescribedCapabilities } from '../../../src/runtime/shared/types/description'

const none = Object.fromEntries(CAPABILITIES.map(name => [name, false])) as unknown as DescribedCapabilities
const trash = { cascade: false, reason: true }

it('distinguish all records, those that a rule allows, none, and what does not exist', () => {
  const allowed = { ...none, canRead: true, canUpdate: true }
  expect(CAPABILITIES.map(name => cellOf({ capabilities: allowed }, name, ['canUpdate']))).toEqual([
    'allowed', 'refused', 'limited', 'refused', 'refused', 'absent', 'absent', 'absent',
  ])
  expect(cellOf({ capabilities: none, trash }, 'canPurge')).toBe('refused')
  expect(['canCreate', 'canUpdate', 'canDelete'].map(name => cellOf({ capabilities: none, readOnly: true }, name as 'canCreate'))).toEqual([
    'absent', 'absent', 'absent',
  ])
})

it('of a refused operation do not depend on its rule', () => {
  expect(cellOf({ capabilities: none, trash }, 'canUpdate', ['canUpdate'])).toBe('refused')
})
