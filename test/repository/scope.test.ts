/** Row visibility is a mark in the type of a plan. Types forbid forging it, except by a cast: these tests forbid the casts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../../src', import.meta.url))

function filesWith(pattern: RegExp): readonly string[] {
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter(file => file.isFile() && file.name.endsWith('.ts'))
    .map(file => join(file.parentPath, file.name))
    .filter(file => pattern.test(readFileSync(file, 'utf8')))
    .map(file => relative(source, file))
}

describe('a cast to a scoped plan', () => {
  it('is in row-scope.ts only', () => {
    expect(filesWith(/\bas\s+(?:unknown\s+as\s+)?Scoped|\B<Scoped\b/)).toEqual(['runtime/server/core/access/row-scope.ts'])
  })
})

describe('a cast to a plan, or to the plans of an include', () => {
  it('is not needed anywhere', () => {
    expect(filesWith(/ as unknown as (?:readonly )?(?:\w*Plan\b|[[({].*\bplan:)/)).toEqual([])
  })
})
