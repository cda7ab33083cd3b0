/** The keys of the lists. */
import { describe, expect, it } from 'vitest'
import { isCharacter, nextRow, shortcutOf, type Press } from '../../../src/runtime/admin/model/shortcuts'

const press = (key: string, more: Partial<Press> = {}): Press => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more })

describe('a key', () => {
  it.each([
    ['j', 'next'], ['ArrowDown', 'next'], ['k', 'previous'], ['ArrowUp', 'previous'], ['x', 'select'], ['e', 'edit'], ['n', 'new'],
    ['/', 'search'], ['?', 'help'], ['Escape', 'clear'],
  ])('%s does one thing: %s', (key, shortcut) => {
    expect(shortcutOf(press(key))).toBe(shortcut)
  })

  it.each(['J', 'a', 'Enter', 'Tab', ' ', 'constructor'])('%s does nothing', (key) => {
    expect(shortcutOf(press(key))).toBeUndefined()
  })

  it.each(['ctrlKey', 'metaKey', 'altKey', 'defaultPrevented', 'isComposing'] as const)('does nothing with %s', (name) => {
    expect(shortcutOf(press('n', { [name]: true }))).toBeUndefined()
  })

  it('is a character that a person can turn off, or not', () => {
    expect(['j', '?', 'Escape', 'ArrowDown'].map(isCharacter)).toEqual([true, true, false, false])
  })
})

describe('the cursor', () => {
  it.each([
    ['begins at the first row', [-1, 0, 1, 3], 0],
    ['begins at the first row upwards, too', [-1, 0, -1, 3], 0],
    ['continues where it was', [-1, 2, 1, 3], 2],
    ['continues at the last row if there are fewer', [-1, 9, 1, 3], 2],
    ['moves down', [0, 0, 1, 3], 1],
    ['moves up', [2, 2, -1, 3], 1],
    ['stays at the end', [2, 2, 1, 3], 2],
    ['stays at the beginning', [0, 0, -1, 3], 0],
    ['has no row in an empty list', [-1, 0, 1, 0], -1],
  ] as const)('%s', (_, [current, last, step, count], row) => {
    expect(nextRow(current, last, step, count)).toBe(row)
  })
})
