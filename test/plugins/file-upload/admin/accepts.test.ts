import { expect, it } from 'vitest'
import { isAccepted, namesOfTypes } from '../../../../src/runtime/plugins/file-upload/admin/accepts'

it('a type is accepted by its name or its group', () => {
  expect(isAccepted('image/png', ['image/png', 'image/jpeg'])).toBe(true)
  expect(isAccepted('image/png', ['image/*'])).toBe(true)
  expect(isAccepted('text/plain', ['image/*'])).toBe(false)
  expect(isAccepted('text/plain', ['*/*'])).toBe(true)
  expect(isAccepted('text/plain', [])).toBe(true)
})

it('types have names that people know', () => {
  expect(namesOfTypes(['image/png', 'image/svg+xml', 'application/pdf', 'audio/*', '*/*'])).toEqual(['PNG', 'SVG', 'PDF', 'audio'])
})
