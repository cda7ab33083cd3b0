/**
 * On every engine: a dry run of each write route leaves all tables unchanged. Its status, code and issues are those of the real write,
 * which
 * runs afterwards. Its body is what the real write returns, and `affected` counts the changes that the real write reports.
 */
import { eq } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { defineAutoApiPlugin, type Change, type ResourceHooks } from '../../src/runtime/server/define'
import { ROUTES } from '../../src/runtime/shared/routes'
import { ENGINE_CASES, isAvailable, sampleFor, type EngineCase } from './support/databases'
import { dump, openLedger, readTable, reset, type Ledger, type LedgerTables } from './support/ledger'

const CALLER = { user: { id: 1, organizationId: 1 } }

type Request = readonly [path: string, body?: unknown]
type WriteRoute = Exclude<typeof ROUTES[number], { method: 'GET' }>['name']

/** Requests of each write route: valid ones, and one for each reason to fail. A new write route does not compile until it is listed. */
const REQUESTS: Readonly<Record<WriteRoute, readonly Request[]>> = {
  'create': [
    [
      'articles',
      { title: 'new', data: { deep: ['ü', 1.5] }, price: '0.5', big: '9007199254740995', bytes: 'AP8Q', at: '2026-02-03T04:05:06.789Z' },
    ],
    ['comments', { body: 'hi', articleId: 1, parentId: 11 }],
    ['articles', { title: 'one' }],
    ['articles', { title: 5, nonsense: true }],
    ['comments', { body: 'hi', articleId: 999 }],
    ['comments', { body: 'hi', articleId: 9 }],
  ],
  'bulk-create': [
    ['articles/bulk', { items: [{ title: 'a' }, { title: 'b', price: '3' }, { title: 'c' }] }],
    ['articles/bulk', { items: [{ title: 'a' }, { title: 'one' }, { title: 'c' }, { title: 'a' }] }],
    ['articles/bulk', { items: [{ title: 'a' }, { title: 7 }] }],
  ],
  'update': [
    ['articles/1', { title: 'other', data: { a: [1, 'x'] }, price: null }],
    ['articles/2', {}],
    ['articles/2', { title: 'one' }],
    ['articles/9', { title: 'theirs' }],
    ['comments/21', { articleId: 999 }],
  ],
  'bulk-update': [
    [
      'articles/bulk',
      {
        items: [
          { id: 1, data: { title: 'x' } },
          { id: 2, data: { price: '9' } },
          { id: 3, data: {} },
        ],
      },
    ],
    [
      'articles/bulk',
      {
        items: [
          { id: 1, data: { title: 'x' } },
          { id: 2, data: { title: 'x' } },
          { id: 999, data: {} },
        ],
      },
    ],
    [
      'articles/bulk',
      {
        items: [
          { id: 1, data: { title: 'x' } },
          { id: 2, data: { title: 'x' } },
          { id: 3, data: { title: 'y' } },
        ],
      },
    ],
  ],
  'delete': [
    ['articles/1'],
    ['articles/1?force=true'],
    ['comments/11'],
    ['bookmarks/1'],
    ['tags/3'],
    ['tags/1'],
    ['articles/999'],
    ['articles/9'],
    ['articles/4?force=true'],
  ],
  'bulk-delete': [
    ['articles/bulk', { ids: [1, 2] }],
    ['comments/bulk', { ids: [11, 111, 12] }],
    ['bookmarks/bulk', { ids: [1, 2, 4] }],
    ['articles/bulk?force=true', { ids: [1, 4] }],
    ['comments/bulk?force=true', { ids: [111, 11] }],
    ['articles/bulk?force=true', { deletionId: 'd4' }],
    ['articles/bulk?force=true', { deletionId: 'none' }],
    ['articles/bulk', { ids: [1, 9] }],
    ['tags/bulk', { ids: [1, 3] }],
  ],
  'restore': [['articles/4/restore'], ['comments/42/restore'], ['articles/1/restore'], ['comments/411/restore']],
  'bulk-restore': [
    ['articles/bulk/restore', { ids: [4, 5] }],
    ['articles/bulk/restore', { deletionId: 'd4' }],
    ['articles/bulk/restore', { ids: [4, 1] }],
  ],
  'relation-add': [
    ['articles/1/relations/tags', { ids: [2, 3] }],
    ['articles/1/relations/labels', { ids: [2, 3] }],
    ['articles/1/relations/tags', { ids: [99] }],
    ['articles/9/relations/tags', { ids: [1] }],
  ],
  'relation-replace': [
    ['articles/1/relations/tags', { ids: [2, 3] }],
    ['articles/1/relations/labels', { ids: [2, 3] }],
    ['articles/1/relations/tags', { ids: [] }],
    ['articles/1/relations/labels', { ids: [1, 99] }],
  ],
  'relation-remove': [
    ['articles/1/relations/tags', { ids: [1, 3] }],
    ['articles/1/relations/labels', { ids: [1, 2] }],
  ],
  'relations-replace': [
    ['articles/1/relations', { relations: { tags: { ids: [3] }, labels: { ids: [] } } }],
    ['articles/1/relations', { relations: { tags: { ids: [3] }, labels: { ids: [99] } } }],
  ],
}

const CASES = ROUTES.filter(({ method }) => method !== 'GET')
  .flatMap(({ name, method }) => REQUESTS[name as WriteRoute].map(([path, body]) => ({ name, method, path, body })))

let seen: { hook: string, dryRun: boolean }[] = []
let commits: Change[] = []

const note = (hook: string) => (...args: unknown[]) => void seen.push({ hook, dryRun: (args.at(-1) as { dryRun: boolean }).dryRun })
const HOOKS = Object.fromEntries(['Create', 'Update', 'Delete', 'Restore', 'Purge', 'Link'].flatMap(name =>
  [`before${name}`, `after${name}`].map(hook => [hook, note(hook)]))) as ResourceHooks

const witness = defineAutoApiPlugin({
  name: 'witness',
  onCommit: changes => void commits.push(...changes),
  inCommit() {
    seen.push({ hook: 'inCommit', dryRun: false })
    return []
  },
})

const isDeletion = ({ name }: { name: string }) => /delete|restore/.test(name)

/** The rows that a write deleted, purged or restored, by resource. */
const reported = () => {
  const counts: Record<string, number> = {}
  for (const { resource, kind } of commits) {
    if (resource !== undefined && ['delete', 'purge', 'restore'].includes(kind)) counts[resource] = (counts[resource] ?? 0) + 1
  }
  return counts
}

const handled: boolean[] = []

/** Renames a label and reads all of them, with and without support for dry runs. */
async function endpoints({ labels }: LedgerTables) {
  const { atomicWrites, createEndpoint, reportChanges } = await import('../../src/runtime/server/utils/index')
  const rename = (dryRun: boolean) => createEndpoint({
    dryRun,
    async handler(ctx) {
      handled.push(ctx.dryRun)
      const [, rows] = await atomicWrites<LibSQLDatabase>(ctx, [
        db => db.update(labels).set({ name: 'renamed' }).where(eq(labels.id, 1)),
        db => db.select().from(labels).orderBy(labels.id),
        reportChanges(ctx, [{ resource: 'labels', kind: 'update', id: 1 }]),
      ])
      return { rows: rows ?? null }
    },
  })
  return { 'POST /rename': rename(true), 'POST /plain': rename(false) }
}

const openWith = (engineCase: EngineCase, transactional: boolean) =>
  openLedger(engineCase, { hooks: HOOKS, plugins: () => [witness], endpoints, transactional })

/** Records without the keys that the database generates: a dry run uses up the next number of a sequence. */
const withoutIds = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, inner: unknown) => key === 'id' ? undefined : inner))

it('lists every write route', () => {
  expect(Object.keys(REQUESTS).sort()).toEqual(ROUTES.filter(({ method }) => method !== 'GET').map(({ name }) => name).sort())
})

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase)).each([
    ['atomic', true],
    ['not atomic', false],
  ])('a dry run, when batches are %s', (_what, transactional) => {
    let ledger: Ledger
    beforeAll(async () => {
      ledger = await openWith(engineCase, transactional)
    })
    beforeEach(async () => {
      await reset(ledger)
      seen = []
      commits = []
    })
    afterAll(() => ledger?.opened.close())

    const applicable = transactional ? CASES : CASES.filter(({ name }) => /bulk-(?:create|update|delete)/.test(name))
    // D1 is the engine that predicts results. Of the others, each runs at least one request of each route.
    const sample = engineCase.engine === 'd1' ? applicable : sampleFor(engineCase, applicable)
    const cases = applicable.filter((one, index) => sample.includes(one) || applicable[index - 1]?.name !== one.name)

    it.each(cases)('of $name $path $body changes nothing and answers as the real write', async ({ name, method, path, body }) => {
      const before = await dump(ledger)
      const dry = await ledger.request(method, `/api/${path}`, { body, caller: CALLER, headers: { prefer: 'return=minimal, tx=rollback' } })
      expect(await dump(ledger)).toEqual(before)
      expect(await readTable(ledger, ledger.tables.ledger)).toEqual([])
      expect(commits).toEqual([])
      expect(seen.filter(({ hook, dryRun }) => !hook.startsWith('before') || !dryRun)).toEqual([])
      const hooks = seen.map(({ hook }) => hook)
      seen = []

      const real = await ledger.request(method, `/api/${path}`, { body, caller: CALLER })
      expect({ status: dry.status, code: dry.body.data?.code }).toEqual({ status: real.status, code: real.body.data?.code })
      expect(seen.filter(({ hook }) => hook.startsWith('before')).map(({ hook }) => hook)).toEqual(hooks)
      if (real.status >= 400) return expect(dry.body).toEqual(real.body)
      expect(dry.headers.get('preference-applied')).toBe('tx=rollback')
      expect(dry.headers.get('location')).toBeNull()
      expect(real.headers.get('preference-applied')).toBeNull()
      if (isDeletion({ name })) {
        expect(dry.body.affected).toEqual(reported())
        expect(typeof dry.body.confirm).toBe(
          transactional || !name.startsWith('bulk-delete') || path.includes('force') ? 'string' : 'undefined',
        )
        return expect(dry.body.meta).toEqual(name.startsWith('bulk') ? real.body.meta : undefined)
      }
      expect(withoutIds(dry.body)).toEqual(withoutIds(real.body))
      if (engineCase.engine === 'd1' || /create/.test(name)) return
      expect(dry.body).toEqual(real.body)
    })

    it('names the rows in `confirm`, so that a write of others is refused', async () => {
      const ask = (method: string, path: string, body?: unknown) => ledger.request(method, `/api/${path}`, { body, caller: CALLER })
      // The same number of rows, but another comment.
      const change = () =>
        ledger.opened.exec(`update comments set article_id = 3 where id = 12;
        insert into comments (id, organization_id, article_id, body) values (1012, 1, 1, 'another'); insert into notes (comment_id, place) values (1012, 'end');`)
      for (const [method, path, body] of [
        ['DELETE', 'articles/1?'],
        ['DELETE', 'articles/1?force=true&'],
        ...(transactional ? [['DELETE', 'articles/bulk?', { ids: [1, 2] }] as const] : []),
      ] as const) {
        await reset(ledger)
        const preview = (await ask(method, `${path}dryRun=true`, body)).body
        expect((await ask(method, `${path}dryRun=true`, body)).body).toEqual(preview)
        await change()
        const before = await dump(ledger)
        for (const dry of ['', '&dryRun=true']) {
          const refused = await ask(method, `${path}confirm=${preview.confirm}${dry}`, body)
          expect({ path, status: refused.status, data: refused.body.data }).toMatchObject({
            status: 409,
            data: { code: 'CONFLICT', affected: preview.affected },
          })
          expect(refused.body.data.confirm).not.toBe(preview.confirm)
        }
        expect(await dump(ledger)).toEqual(before)
        const again = (await ask(method, `${path}dryRun=true`, body)).body
        expect((await ask(method, `${path}confirm=${again.confirm}`, body)).status).toBe(200)
        expect((await ask(method, `${path}confirm=`, body)).status).toBe(400)
      }
      await reset(ledger)
      for (const [path, body] of [['articles/4/restore?'], ['articles/bulk/restore?', { deletionId: 'd4' }]] as const) {
        await reset(ledger)
        const preview = (await ask('POST', `${path}dryRun=true`, body)).body
        expect((await ask('POST', `${path}confirm=other`, body)).status).toBe(409)
        expect((await ask('POST', `${path}confirm=${preview.confirm}`, body)).status).toBe(200)
      }
      await reset(ledger)
    })

    it('of an endpoint rolls back its atomic writes, and is refused without support for it', async () => {
      const before = await dump(ledger)
      handled.length = 0
      const dry = await ledger.request('POST', '/rename?dryRun=true', { caller: CALLER })
      expect(await dump(ledger)).toEqual(before)
      expect([commits, seen, handled]).toEqual([[], [], [true]])
      const refused = await ledger.request('POST', '/plain', { caller: CALLER, headers: { prefer: 'tx=rollback' } })
      expect([refused.status, refused.body.data?.code, handled.length]).toEqual([400, 'DRY_RUN_UNSUPPORTED', 1])
      const real = await ledger.request('POST', '/rename', { caller: CALLER })
      expect(dry.body).toEqual(engineCase.engine === 'd1' ? { rows: null } : real.body)
      expect(real.body.rows[0]).toEqual({ id: 1, name: 'renamed' })
    })
  })
})
