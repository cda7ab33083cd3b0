import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffWords, shortenSame } from '../../../../src/runtime/plugins/audit-log/admin/word-diff'

const SIGNS = { same: '', removed: '-', added: '+' } as const
const show = (before: string, after: string) => diffWords(before, after)?.map(({ kind, text }) => SIGNS[kind] + text.trim()).join('|')

describe('the difference of two texts', () => {
  it.each([
    ['The old harbour opens', 'The new harbour opens', 'The|-old|+new|harbour opens'],
    ['One two three', 'One two three four', 'One two three|+four'],
    ['One two', 'Zero one One two', '+Zero one|One two'],
    ['same text', 'same text', 'same text'],
    ['a b c d', 'a d', 'a|-b c|d'],
  ])('%j and %j is %s', (before, after, parts) => expect(show(before, after)).toBe(parts))

  it('contains both texts', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c', 'dd', '\n', ' ', '  '), { maxLength: 30 }).map(all => all.join(' '))
    fc.assert(fc.property(words, words, (before, after) => {
      const parts = diffWords(before, after)
      const without = (kind: string) => parts?.filter(part => part.kind !== kind).map(({ text }) => text).join('')
      return parts === undefined || (without('added') === before && without('removed') === after)
    }))
  })

  it('is not shown for texts with little in common, and for very long ones', () => {
    expect(diffWords('Something completely different', 'Ferry timetable changes again')).toBeUndefined()
    const long = 'word '.repeat(2001)
    expect(diffWords(long, `${long}more`)).toBeUndefined()
    expect(diffWords('word '.repeat(1990), `${'word '.repeat(1990)}more`)).toHaveLength(2)
  })

  it('leaves out the words far from a change', () => {
    const words = Array.from({ length: 40 }, (_, index) => `w${index}`).join(' ')
    const [first, ...rest] = shortenSame(diffWords(`${words} old`, `${words} new`)!)
    expect([first!.text.startsWith('… w28'), rest.map(({ text }) => text)]).toEqual([true, ['old', 'new']])
  })
})
