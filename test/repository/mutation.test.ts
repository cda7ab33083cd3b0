/** The tables of the mutation tests name files that exist, and harmless changes of code that exists. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FOLDERS } from '../mutation/folders'
import { HARMLESS } from '../mutation/harmless'
import { PLACES, toRange } from '../mutation/places'
import { root } from '../support/once'

const patterns = Object.values(FOLDERS).flatMap(({ code, tests }) => [...code, ...tests])

describe('the mutation tests', () => {
  it.each([...new Set(patterns)])('have a file for %s', (pattern) => {
    expect(globSync(pattern, { cwd: root })).not.toEqual([])
  })

  it.each([...new Set(HARMLESS.map(({ file }) => file))])('name code of %s', (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const codes = HARMLESS.filter(harmless => harmless.file === file).map(({ code }) => code)
    expect(codes.filter(code => !text.includes(code))).toEqual([])
  })

  it('find each place that is about published vulnerabilities, once', () => {
    for (const place of PLACES) expect(() => toRange(place, readFileSync(join(root, 'src/runtime', place.file), 'utf8'))).not.toThrow()
  })
})
