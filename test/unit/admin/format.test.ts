/** The texts of the admin: their values, and their plural forms in any language. */
import { describe, expect, it } from 'vitest'
import { format } from '../../../src/runtime/admin/model/format'

describe('a text of the admin', () => {
  it.each([
    ['Author', 'author'],
    ['API tokens', 'API tokens'],
    ['ID', 'ID'],
    ['Über uns', 'über uns'],
    ['x', 'x'],
  ])('can begin with a small letter: %s', (label, expected) => {
    expect(format('Choose {label.lower}', { label })).toBe(`Choose ${expected}`)
  })

  it('puts values in as they are', () => {
    expect(format('{a} | {b}', { a: '{b}', b: ' | ', count: 1 })).toBe('{b}')
  })
})

const autoAdmin = {
  locale: 'pl',
  messages: {
    records: { one: '{count} rekord', few: '{count} rekordy', many: '{count} rekordów', other: '{count} rekordu' },
    save: 'Zapisz',
  },
}

describe('the plural form', () => {
  it.each([[0, 'records'], [1, 'record'], [2, 'records'], [1.5, 'records'], [101, 'records']])('of English is one of two: %d', (count, word) => {
    expect(format('{count} record | {count} records', { count })).toBe(`${count} ${word}`)
  })

  it.each([
    [0, '0 rekordów'], [1, '1 rekord'], [2, '2 rekordy'], [5, '5 rekordów'], [12, '12 rekordów'], [22, '22 rekordy'], [1.5, '1.5 rekordu'],
  ])('of Polish is one of four: %d', (count, text) => {
    expect(format(autoAdmin.messages.records, { count }, autoAdmin.locale)).toBe(text)
  })

  it.each([
    [0, 'zero'], [1, 'one'], [2, 'two'], [3, 'few'], [10, 'few'], [11, 'many'], [99, 'many'], [100, 'other'], [103, 'few'], [1.5, 'other'],
  ])('of Arabic is one of six: %d', (count, category) => {
    const forms = { zero: 'zero', one: 'one', two: 'two', few: 'few', many: 'many', other: 'other' }
    expect(format(forms, { count }, 'ar')).toBe(category)
  })

  it('is that of `other` for a category without a form, and without a number', () => {
    expect(format({ one: 'a', other: 'b' }, { count: 3 }, 'pl')).toBe('b')
    expect(format({ one: 'a', other: 'b' }, {}, 'pl')).toBe('b')
    expect(format('a | b', {})).toBe('b')
  })

  it('of a text with two forms follows the language', () => {
    const forms = '{count} jour | {count} jours'
    expect([0, 1, 2].map(count => format(forms, { count }, 'fr'))).toEqual(['0 jour', '1 jour', '2 jours'])
    expect(format('a | b', { count: 1 }, 'ja')).toBe('b')
  })

  it('follows the count, however the text shows it', () => {
    expect(format('{count} record | {count} records', { count: 'one' }, 'en', 1)).toBe('one record')
    expect(format(autoAdmin.messages.records, { count: '1 234' }, 'pl', 1234)).toBe('1 234 rekordy')
  })
})
