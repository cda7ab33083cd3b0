/** What the page makes of numbers, sentences, rows and its URL. */
import { describe, expect, it } from 'vitest'
import { count, toDuration, toParts } from '../../../src/runtime/devtools/format'
import { toFunnel } from '../../../src/runtime/devtools/funnel'
import { baseOf, tabOf } from '../../../src/runtime/devtools/paths'

it.each([[0.04, '< 0.1 ms'], [0.1, '0.1 ms'], [1.26, '1.3 ms'], [99.94, '99.9 ms'], [340.4, '340 ms'], [1234, '1.2 s']])('%d ms is shown as %s', (ms, text) => {
  expect(toDuration(ms)).toBe(text)
})

it('counts one thing and several', () => {
  expect([count(1, 'row'), count(0, 'row'), count(2, 'missing index', 'missing indexes')]).toEqual(['1 row', '0 rows', '2 missing indexes'])
})

describe('a sentence', () => {
  it.each([
    ['plain', ['plain']],
    ['`posts` hides rows of `posts.id`.', [['posts'], ' hides rows of ', ['posts.id'], '.']],
    ['an unpaired ` stays', ['an unpaired ` stays']],
    ['``', ['``']],
    ['', []],
  ])('shows the text between backticks as code: %s', (sentence, parts) => {
    expect(toParts(sentence).map(({ text, isCode }) => isCode ? [text] : text)).toEqual(parts)
  })
})

describe('the rows of a table', () => {
  const rows = {
    resource: 'posts',
    operation: 'read',
    total: 100,
    rules: [
      { kind: 'tenant', rule: 'multiTenancy: posts.organizationId', hidden: 60 },
      { kind: 'listFilter', rule: 'posts.authorization.listFilter', place: 'server/resources/posts.ts:3', hidden: 0 },
      { kind: 'objectLevel', rule: 'posts.authorization.objectLevel', hidden: 10 },
    ],
    visible: 30,
  } as const

  it('become fewer with each rule, until the visible ones are left', () => {
    const steps = toFunnel(rows)
    expect(steps.map(({ left }) => left)).toEqual([40, 40, 30])
    expect(steps[1]).toEqual({ name: 'listFilter', rule: rows.rules[1].rule, place: rows.rules[1].place, hidden: 0, left: 40 })
  })

  it('have no number after a rule that has judged the first rows only', () => {
    expect(toFunnel({ ...rows, truncated: true }).every(step => !('left' in step))).toBe(true)
  })
})

describe('the URL of the page', () => {
  it.each([
    ['/_auto-api/devtools', ''],
    ['/_auto-api/devtools/', ''],
    ['/shop/_auto-api/devtools', '/shop'],
    ['/a/b/_auto-api/devtools', '/a/b'],
  ])('contains the base URL of the app: %s', (path, base) => {
    expect(baseOf(path)).toBe(base)
  })

  it.each([['#access', 'access'], ['#console', 'console'], ['', 'resources'], ['#other', 'resources']])('names the tab: %j', (hash, tab) => {
    expect(tabOf(hash)).toBe(tab)
  })
})
