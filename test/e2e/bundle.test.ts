/** A built server contains the database driver that the app imports, and no other. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildVisibilityApp } from './support/visibility'

/** Every driver of the engines, and Drizzle's folder for it. */
const DRIVERS: Readonly<Record<string, string>> = {
  'better-sqlite3': 'better-sqlite3',
  'pg': 'node-postgres',
  'postgres': 'postgres-js',
  'mysql2': 'mysql2',
  '@libsql/client': 'libsql',
  '@electric-sql/pglite': 'pglite',
  '@neondatabase/serverless': 'neon-http',
  '@planetscale/database': 'planetscale-serverless',
  '@cloudflare/workers-types': 'd1',
}

let files: readonly string[]
let code: string

beforeAll(async () => {
  const output = join(await buildVisibilityApp(), 'server')
  files = readdirSync(output, { recursive: true, encoding: 'utf8' })
  code = files
    .filter(name => /\.[cm]?js$/.test(name) && !name.includes('node_modules'))
    .map(name => readFileSync(join(output, name), 'utf8'))
    .join('\n')
})

/** Whether the files contain a driver or Drizzle's folder for it, or the code imports one of them. */
function contains(driver: string, part: string): boolean {
  const imports = new RegExp(`(?:from|import|require)\\s*\\(?\\s*['"](?:${driver}|drizzle-orm/${part})(?:/[^'"]*)?['"]`)
  return (
    imports.test(code)
    || files.some(name => name.startsWith(join('node_modules', driver)) || name.startsWith(join('node_modules/drizzle-orm', part)))
  )
}

describe('a server whose app imports better-sqlite3', () => {
  it.each(Object.entries(DRIVERS))('contains this driver and no other: %s', (driver, part) => {
    expect(contains(driver, part)).toBe(driver === 'better-sqlite3')
  })
})

/** Words of the routes, the recorder, the texts and the page of explanations. */
const OF_EXPLANATIONS = ['_auto-api', 'x-auto-api-local', 'Every rule lets the caller pass', 'explain=', 'addRecorder', 'customTabs']

it.each(OF_EXPLANATIONS)('a production server explains nothing: it does not contain %s', (word) => {
  expect(code).toContain('auto-api')
  expect(code.includes(word)).toBe(false)
})
