/** The mark of a scope is made in one file. Types forbid it everywhere else; a cast could still forge it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../../../src', import.meta.url))

describe('a cast to Scoped', () => {
  it('stands in row-scope.ts only', () => {
    const files = readdirSync(source, { recursive: true, withFileTypes: true }).filter(file => file.isFile() && file.name.endsWith('.ts'))
    const casting = files
      .map(file => join(file.parentPath, file.name))
      .filter(file => /\bas\s+(?:unknown\s+as\s+)?Scoped\b|<Scoped</.test(readFileSync(file, 'utf8')))
      .map(file => relative(source, file))
    expect(casting).toEqual(['runtime/server/core/access/row-scope.ts'])
  })
})
