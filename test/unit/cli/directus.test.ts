/** `nuxt-auto-api import directus`: the files that it writes, what it reports, and that no caller sees more than in Directus. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { importDirectus } from '../../../src/cli/directus'
import { toRegistrations } from '../../../src/runtime/testing/api/resources'
import { createTablesSql } from '../../support/create-tables'
import { createServer } from '../../support/server'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const example = (name: string) => join(root, 'test/unit/cli/examples/directus', name)
let cwd: string

const write = (path: string, content: string | object) => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), typeof content === 'string' ? content : JSON.stringify(content))
  return join(cwd, path)
}
const read = (path: string) => readFileSync(join(cwd, path), 'utf8')

beforeEach(() => {
  // In the repository, so that the files that are imported find Drizzle.
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
  cwd = mkdtempSync(join(root, 'node_modules/.cache/directus-'))
  write('package.json', { dependencies: { nuxt: '^4.0.0' } })
})
afterEach(() => rmSync(cwd, { recursive: true }))

describe('import directus', () => {
  it('writes a resource for each collection, and the policies of the roles', () => {
    write('server/database/schema.ts', readFileSync(example('database/schema.ts'), 'utf8'))
    const { changes, notes } = importDirectus({ cwd, snapshot: example('snapshot.json'), policies: example('policies.json') })
    expect(changes).toEqual(['created  server/resources/articles.ts', 'created  server/resources/team-members.ts', 'created  server/utils/policies.ts'])
    for (const path of ['server/resources/articles.ts', 'server/resources/team-members.ts', 'server/utils/policies.ts'])
      expect(read(path)).toBe(readFileSync(example(path.replace('server/', '')), 'utf8'))
    expect(notes.join('\n')).toBe(readFileSync(example('notes.txt'), 'utf8').trimEnd())
  })

  it('keeps files that exist, and writes nothing in a dry run', () => {
    write('server/database/schema.ts', readFileSync(example('database/schema.ts'), 'utf8'))
    write('server/resources/articles.ts', 'mine')
    const options = { cwd, snapshot: example('snapshot.json') }
    expect(importDirectus({ ...options, dryRun: true }).changes).toEqual(['kept     server/resources/articles.ts', 'created  server/resources/team-members.ts'])
    expect(() => read('server/resources/team-members.ts')).toThrow()
    importDirectus(options)
    expect(read('server/resources/articles.ts')).toBe('mine')
    // Without policies, nothing is allowed.
    expect(read('server/resources/team-members.ts')).toContain('    read: false,\n    create: false,\n    update: false,\n    delete: false,\n')
  })

  it('names a table that the schema does not have', () => {
    expect(importDirectus({ cwd, snapshot: example('snapshot.json') })).toMatchObject({
      changes: [], notes: expect.arrayContaining([expect.stringMatching(/^articles: the schema has no such table. Run `npx drizzle-kit pull`/)]),
    })
  })

  it.each([
    ['no file', undefined, /does not exist/],
    ['YAML', 'version: 1\ncollections: []', /is not JSON. It should be a snapshot of Directus as JSON. Write it with `npx directus/],
    ['another JSON file', '{"name":"x"}', /collections: /],
  ])('refuses %s', (_, content, message) => {
    const file = content === undefined ? join(cwd, 'missing.json') : write('snapshot.json', content)
    expect(() => importDirectus({ cwd, snapshot: file })).toThrow(message)
  })

  it('gives policies whose names differ in signs only a permission each', () => {
    write('server/database/schema.ts', SCHEMA)
    const granting = (fields: string[]) => ({ rule: {}, fields })
    const policies = write('policies.json', toPolicies([
      { name: 'Sales', isPublic: false, read: granting(['id', 'status']) },
      { name: 'Sales!', isPublic: false, read: granting(['*']) },
    ]))
    importDirectus({ cwd, snapshot: write('snapshot.json', SNAPSHOT), policies })
    expect(read('server/resources/items.ts')).toContain(`read: ['policy:sales', 'policy:sales.2']`)
    expect(read('server/resources/items.ts')).toContain(`score: { read: 'policy:sales.2' }`)
    expect(read('server/utils/policies.ts')).toContain(`  Sales: ['policy:sales'],\n  'Sales!': ['policy:sales.2'],`)
  })

  it.each([
    ['a value instead of an operator', { score: 5 }, 'the condition `5`'],
    ['no operator', { score: {} }, '`score` without an operator'],
    ['no alternative', { _or: [] }, '`_or` with an empty part'],
    ['an empty alternative', { _or: [{}, { score: { _eq: 1 } }] }, '`_or` with an empty part'],
    ['no list', { _and: { score: { _eq: 1 } } }, '`_and` without a list'],
    ['an unknown operator', { score: { _intersects: 1 } }, '`_intersects` of `score`'],
    ['another table', { owner_id: { team: { _eq: 1 } } }, 'a rule on `owner_id.team`, which is in another table'],
  ])('gives no rows for a rule with %s', (_, rule, reason) => {
    write('server/database/schema.ts', SCHEMA)
    const policies = write('policies.json', toPolicies([{ name: 'Public', isPublic: true, read: { rule, fields: ['*'] } }]))
    const { notes } = importDirectus({ cwd, snapshot: write('snapshot.json', SNAPSHOT), policies })
    expect(notes).toContainEqual(expect.stringContaining(`${reason}. The policy gives no rows.`))
    expect(read('server/resources/items.ts')).toMatch(/if \(has\(ctx, '\*'\)\) return undefined\n {4}return nobody/)
  })

  it('leaves out a policy for some client addresses, and fields of a permission without a list', () => {
    write('server/database/schema.ts', SCHEMA)
    const { data: [office, open] } = toPolicies([
      { name: 'Office', isPublic: false, read: { rule: {}, fields: ['*'] } },
      { name: 'Open', isPublic: false, read: { rule: {}, fields: ['*'] } },
    ])
    const policies = write('policies.json', {
      data: [{ ...office, ip_access: ['10.0.0.1'] }, { ...open, permissions: open!.permissions.map(permission => ({ ...permission, fields: null })) }],
    })
    const { notes } = importDirectus({ cwd, snapshot: write('snapshot.json', SNAPSHOT), policies })
    expect(notes).toContain('The policy `policy:office` is limited to client addresses, so it was left out.')
    expect(read('server/resources/items.ts')).toContain(`read: 'policy:open'`)
    expect(read('server/resources/items.ts')).toContain(`score: { read: ctx => has(ctx, '*') }`)
  })

  it('writes texts as texts, and never as code', () => {
    const title = '\'); process.exit(1) //\n`${1}`\\'
    write('server/database/schema.ts', SCHEMA)
    const policies = write('policies.json', toPolicies([{ name: 'Public', isPublic: true, read: { rule: { status: { _eq: title } }, fields: ['*'] } }]))
    importDirectus({ cwd, snapshot: write('snapshot.json', SNAPSHOT), policies })
    const [, literal] = /eq\(table\.status, ('.*')\)/.exec(read('server/resources/items.ts'))!

    expect(new Function(`return ${literal}`)()).toBe(title)
  })
})

const SCHEMA = `import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
export const items = sqliteTable('items', {
  id: integer('id').primaryKey(), status: text('status'), score: integer('score'), owner: text('owner_id'),
})
`
const items = sqliteTable('items', {
  id: integer('id').primaryKey(), status: text('status'), score: integer('score'), owner: text('owner_id'),
})
const COLUMNS = ['id', 'status', 'score', 'owner_id']
const SNAPSHOT = {
  collections: [{ collection: 'items', meta: {}, schema: { name: 'items' } }],
  fields: COLUMNS.map(field => ({ collection: 'items', field, meta: null, schema: { is_primary_key: field === 'id' } })),
  relations: [],
}

type Row = { readonly [column: string]: string | number | null }
const ROWS: readonly Row[] = [0, 1, 2, 3, 4, 5, 6, 7].map(at => ({
  id: at + 1, status: ['draft', 'public', null][at % 3]!, score: [null, 1, 5][at % 3 === 0 ? at % 2 : 2]!, owner_id: ['ada', 'ben'][at % 2]!,
}))

interface Permission { readonly rule: object, readonly fields: readonly string[] }
interface ModelPolicy { readonly name: string, readonly isPublic: boolean, readonly read?: Permission, readonly update?: Permission }

function toPolicies(policies: readonly ModelPolicy[]) {
  return {
    data: policies.map(({ name, isPublic, read, update }) => ({
      name,
      roles: isPublic ? [{ role: null, user: null }] : [{ role: { name }, user: null }],
      permissions: Object.entries({ read, update }).flatMap(([action, permission]) =>
        permission ? [{ collection: 'items', action, permissions: permission.rule, fields: permission.fields }] : []),
    })),
  }
}

/** The rules of Directus, as its documentation describes them. A comparison with NULL is not true. */
function meets(rule: object, row: Row, user: string): boolean {
  return Object.entries(rule).every(([key, value]) => {
    if (key === '_and') return (value as object[]).every(part => meets(part, row, user))
    if (key === '_or') return (value as object[]).some(part => meets(part, row, user))
    const actual = row[key]! as number
    return Object.entries(value as object).every(([operator, raw]: [string, unknown]) => {
      const wanted = (raw === '$CURRENT_USER' ? user : raw) as number
      switch (operator) {
        case '_null': return actual === null
        case '_nnull': return actual !== null
        case '_eq': return actual !== null && actual === wanted
        case '_neq': return actual !== null && actual !== wanted
        case '_gt': return actual !== null && actual > wanted
        case '_lte': return actual !== null && actual <= wanted
        case '_in': return (raw as unknown[]).includes(actual)
        case '_between': return actual !== null && actual >= (raw as number[])[0]! && actual <= (raw as number[])[1]!
        default: throw new Error(operator)
      }
    })
  })
}

const condition = fc.oneof(
  fc.constantFrom({ status: { _eq: 'public' } }, { status: { _neq: 'draft' } }, { status: { _null: true } }, { status: { _in: ['draft', 'public'] } },
    { score: { _gt: 1 } }, { score: { _lte: 1 } }, { score: { _between: [1, 4] } }, { score: { _nnull: true } }, { owner_id: { _eq: '$CURRENT_USER' } }),
)
const rule = fc.oneof(
  fc.constant({}), condition,
  fc.tuple(condition, condition).map(([a, b]) => ({ _or: [a, { _and: [b, a] }] })),
  fc.tuple(condition, condition).map(([a, b]) => ({ _and: [a, b] })),
)
const permission = fc.record({
  rule, fields: fc.oneof(fc.constant(['*']), fc.subarray(COLUMNS.slice(1), { minLength: 1 }).map(fields => ['id', ...fields])),
})
const policy = (name: string) => fc.record({
  name: fc.constant(name), isPublic: fc.constant(name === 'public'), read: fc.option(permission, { nil: undefined }), update: fc.option(permission, { nil: undefined }),
})
const policies = fc.tuple(policy('public'), policy('a'), policy('b')).map(all => all as readonly ModelPolicy[])

it('shows the rows of Directus, and never a field that Directus withholds', async () => {
  let compared = 0
  await fc.assert(fc.asyncProperty(policies, async (all) => {
    write('server/database/schema.ts', SCHEMA)
    const folder = mkdtempSync(join(cwd, 'run-'))
    const at = (path: string) => join(folder, path)
    for (const [path, content] of Object.entries({
      'package.json': '{"dependencies":{"nuxt":"4"}}', 'server/database/schema.ts': SCHEMA, 'snapshot.json': JSON.stringify(SNAPSHOT), 'policies.json': JSON.stringify(toPolicies(all)),
    })) {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), content)
    }
    importDirectus({ cwd: folder, snapshot: at('snapshot.json'), policies: at('policies.json') })
    const client = new Database(':memory:')
    client.exec(await createTablesSql('sqlite', { items }))
    const db = drizzle(client)
    for (const { owner_id: owner, ...row } of ROWS) db.insert(items).values({ ...row, owner } as never).run()
    const registrations = await toRegistrations({ items: () => import(at('server/resources/items.ts')) })
    const server = await createServer({ db, modules: [{ items: registrations[0]!.schema }], registrations })
    for (const names of [[], ['a'], ['b'], ['a', 'b']]) {
      const caller = { user: { id: 'ada' }, permissions: names.map(name => `policy:${name}`) }
      const held = all.filter(({ name, isPublic }) => isPublic || names.includes(name))
      const grants = held.flatMap(({ read }) => read ? [read] : [])
      const visible = ROWS.filter(row => grants.some(({ rule }) => meets(rule, row, 'ada')))
      const { status, body } = await server.request('GET', '/api/items?sort=id', { caller })
      expect(status).toBe(grants.length > 0 ? 200 : 403)
      if (status !== 200) continue
      const records = body.data as Record<string, unknown>[]
      expect(records.map(({ id }) => id)).toEqual(visible.map(({ id }) => id))
      records.forEach((record, index) => {
        const allowed = new Set(grants.filter(({ rule }) => meets(rule, visible[index]!, 'ada')).flatMap(({ fields }) => fields))
        const shown = Object.keys(record).map(key => key === 'owner' ? 'owner_id' : key)
        expect(allowed.has('*') ? [] : shown.filter(field => !allowed.has(field))).toEqual([])
        if (grants.length === 1) expect(shown.length).toBe(allowed.has('*') ? COLUMNS.length : allowed.size)
        compared++
      })
      for (const row of visible.slice(0, 3)) {
        const updates = held.flatMap(({ update }) => update && meets(update.rule, row, 'ada') ? [update.fields] : [])
        const { status } = await server.request('PATCH', `/api/items/${row.id}`, { caller, body: { score: row.score } })
        if (!updates.some(fields => fields.includes('*') || fields.includes('score'))) expect(status).toBeGreaterThanOrEqual(403)
        else if (held.filter(({ update }) => update).length === 1) expect(status).toBe(200)
      }
    }
    await server.stop()
    client.close()
  }), { numRuns: Number(process.env.RUNS ?? 20) })
  expect(compared).toBeGreaterThan(20)
})
