/** The times of files: listed worst first, and compared by their share of the whole. */
import { expect, it } from 'vitest'
import { describeFiles, describeGrowth, secondsOf } from '../support/times'

it('counts loading, set-up and tests of a file', () => {
  expect(secondsOf({ collectDuration: 1000, setupDuration: 240, duration: 2000 })).toBe(3.2)
})

it('lists the files that take longest first, and the others together', () => {
  expect(describeFiles({ unit: { 'a.test.ts': 2.5, 'b.test.ts': 0.4, 'c.test.ts': 0.3 }, e2e: { 'd.test.ts': 30 } })).toEqual([
    '   30.0 s  e2e d.test.ts',
    '    2.5 s  unit a.test.ts',
    '    0.7 s  2 other files',
  ])
})

it('names the files whose share grew by more than a quarter, whatever the speed of the machine', () => {
  const before = { unit: { 'a.test.ts': 10, 'b.test.ts': 10, 'c.test.ts': 1, 'd.test.ts': 80 } }
  expect(
    describeGrowth({ unit: { 'a.test.ts': 30, 'b.test.ts': 20, 'c.test.ts': 1.9, 'd.test.ts': 160, 'new.test.ts': 40 } }, before),
  ).toEqual(['unit a.test.ts takes 1.4 times its share of the time'])
})

it('names no file without kept times', () => {
  expect(describeGrowth({ unit: { 'a.test.ts': 30 } }, undefined)).toEqual([])
})
