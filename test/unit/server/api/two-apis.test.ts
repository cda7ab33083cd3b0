/** An API is a value: two of them in one process share nothing, and one that cannot be created leaves nothing behind. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createApp, createRouter, defineEventHandler, toWebHandler } from 'h3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApi, type ApiOptions, type ServerApi } from '../../../../src/runtime/server/api/create'
import { createRuntime, mountRuntime, setDefaultRuntime, useRuntime, type Runtime } from '../../../../src/runtime/server/api/runtime'
import { assertEndpoints } from '../../../../src/runtime/server/core/entries/endpoint'
import type { AutoApiPlugin } from '../../../../src/runtime/server/plugin/contract'
import type { Permission, ResourceHooks } from '../../../../src/runtime/server/registration'
import collection from '../../../../src/runtime/server/routes/collection'
import pluginRoutes from '../../../../src/runtime/server/routes/plugins'
import { useApi } from '../../../../src/runtime/server/runtime'
import {
  addContextExtender,
  addGlobalHook,
  addResourceHook,
  createEndpoint,
  getDatabase,
  initializeDatabase,
} from '../../../../src/runtime/server/utils'

const notes = sqliteTable('notes', { id: integer('id').primaryKey(), text: text('text').notNull() })

const options = (create: Permission = { anyone: true }): ApiOptions => ({
  registrations: [{ name: 'notes', schema: notes, authorization: { permissions: { read: true, create } } }],
})

/** A database with one note. */
function openDatabase(note: string) {
  const client = new Database(':memory:')
  client.exec('create table notes (id integer primary key, text text not null)')
  client.prepare('insert into notes (text) values (?)').run(note)
  return drizzle({ client })
}

/** A hook that signs the notes it sees. */
const signNotes = (name: string): ResourceHooks => ({
  afterList: records => records.map(record => ({ ...record, text: `${String(record.text)} (${name})` })),
})

const pluginOf = (name: string, seen: string[]): AutoApiPlugin => ({
  name,
  onRequest: ({ resource }) => void seen.push(`${name} ${resource}`),
  routes: [{ method: 'GET', path: `/${name}`, handler: () => ({ name }) }],
  tasks: { tick: { every: 1, run: () => {} } },
})

/** Sends requests to the API of a runtime, on an h3 app of its own. */
function openApp(runtime: Runtime) {
  const app = createApp()
  app.use(defineEventHandler(event => mountRuntime(event, runtime)))
  const router = createRouter()
  router.use('/who', createEndpoint({ handler: ({ user, db }) => ({ user, own: db === runtime.database.get() }) }))
  router.use('/api/notes', collection)
  app.use(pluginRoutes)
  app.use(router)
  const handle = toWebHandler(app)
  return async (method: string, path: string, body?: object) => {
    const init = { method, ...body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } }
    const response = await handle(new Request(`http://localhost${path}`, init))
    return {
      status: response.status,
      body: JSON.parse((await response.text()) || 'null') as { data: { text: string }[] } & Record<string, unknown>,
    }
  }
}

let original: Runtime
beforeEach(() => {
  original = useRuntime()
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  setDefaultRuntime(original)
  vi.restoreAllMocks()
})

describe('two APIs in one process', () => {
  const seen: string[] = []

  function open(name: string, ownOptions?: ApiOptions) {
    const runtime = createRuntime(given =>
      createApi({ ...options(), ...ownOptions, plugins: [{ where: name, listed: () => pluginOf(name, seen) }], ...given }),
    )
    const api = runtime.api()
    api.initializeDatabase(openDatabase(`note of ${name}`), 'better-sqlite3')
    return { runtime, api, request: openApp(runtime) }
  }

  beforeEach(() => void (seen.length = 0))

  it('have hooks, extenders, evaluators, databases and plugins of their own', async () => {
    const first = open('first')
    const second = open('second')
    first.api.addResourceHook('notes', signNotes('hook of the first'))
    second.api.addGlobalHook(signNotes('hook of the second'))
    first.api.addContextExtender((ctx) => {
      ctx.user = { name: 'Ann' }
    })
    first.api.registerPermissionEvaluator({ claims: permission => 'anyone' in permission, evaluate: () => true })

    const [ofFirst, ofSecond] = await Promise.all([first.request('GET', '/api/notes'), second.request('GET', '/api/notes')])
    expect(ofFirst.body.data.map(({ text }) => text)).toEqual(['note of first (hook of the first)'])
    expect(ofSecond.body.data.map(({ text }) => text)).toEqual(['note of second (hook of the second)'])
    expect(seen.sort()).toEqual(['first notes', 'second notes'])

    expect([(await first.request('GET', '/who')).body, (await second.request('GET', '/who')).body]).toEqual([
      { user: { name: 'Ann' }, own: true },
      { user: null, own: true },
    ])
    expect([
      (await first.request('POST', '/api/notes', { text: 'a' })).status,
      (await second.request('POST', '/api/notes', { text: 'a' })).status,
    ]).toEqual([201, 401])

    expect([(await first.request('GET', '/api/first')).status, (await first.request('GET', '/api/second')).status]).toEqual([200, 404])
    expect([await first.api.scheduler.runDue(new Date(0)), await second.api.scheduler.runDue(new Date(0))]).toEqual([
      ['first:tick'],
      ['second:tick'],
    ])
  })

  it('have configurations, statements and reserved ids of their own', () => {
    const plugin: AutoApiPlugin = {
      name: 'export',
      routes: [{ method: 'GET', path: '/:resource/export', operation: 'read', handler: () => '' }],
    }
    const first = createApi({ ...options(), plugins: [{ where: 'test', listed: () => plugin }] })
    const second = createApi(options())
    expect([first.reservedIds.has('export'), second.reservedIds.has('export')]).toEqual([true, false])
    expect(first.statements).not.toBe(second.statements)
    expect([Object.isFrozen(first), Object.isFrozen(second)]).toEqual([true, true])
  })

  it('get additions and a database from the auto-imported functions only as the default API', async () => {
    const first = open('first')
    const second = open('second')
    setDefaultRuntime(second.runtime)
    addResourceHook('notes', signNotes('registrar'))
    addContextExtender((ctx) => {
      ctx.user = { name: 'Ben' }
    })
    createEndpoint({ resource: 'notes', operation: 'read', endpointName: 'missing', handler: () => 1 })
    const replaced = openDatabase('replaced')
    initializeDatabase(replaced, 'better-sqlite3')

    expect((await first.request('GET', '/api/notes')).body.data[0]!.text).toBe('note of first')
    expect((await second.request('GET', '/api/notes')).body.data[0]!.text).toBe('replaced (registrar)')
    expect([(await first.request('GET', '/who')).body.user, (await second.request('GET', '/who')).body.user]).toEqual([
      null,
      { name: 'Ben' },
    ])
    expect(() => assertEndpoints(first.api)).not.toThrow()
    expect(() => assertEndpoints(second.api)).toThrow('has no gate `missing`')
    expect(getDatabase()).toBe(replaced)
  })
})

describe('a failed start', () => {
  /** The default API of a server whose start fails the given number of times, after its plugins have added something. */
  function openFailing(failures: number, seen: string[] = []) {
    let left = failures
    const failing: AutoApiPlugin = {
      name: 'failing',
      extendContext: () => void seen.push('extender of the plugin'),
      hooks: { '*': { beforeList: () => void seen.push('hook of the plugin') } },
      setup() {
        addGlobalHook({ beforeList: () => void seen.push('hook of the setup') })
        if (left-- > 0) throw new Error('the storage is not reachable')
      },
    }
    const runtime = createRuntime(given => createApi({ ...options(), plugins: [{ where: 'test', listed: () => failing }], ...given }))
    setDefaultRuntime(runtime)
    initializeDatabase(openDatabase('a note'), 'better-sqlite3')
    return runtime
  }

  const countOf = (api: ServerApi) => ({
    extenders: api.extenders.length,
    hooks: api.hooks.find(api.resources.get('notes')!, 'beforeList').length,
    endpoints: api.endpoints.length,
  })

  it('leaves nothing behind, and what server plugins added before and after it counts exactly once', async () => {
    const seen: string[] = []
    const runtime = openFailing(2, seen)
    addGlobalHook({ beforeList: () => void seen.push('hook added before') })
    addContextExtender(() => void seen.push('extender added before'))
    expect(() => useApi()).toThrow('the storage is not reachable')
    addResourceHook('notes', { beforeList: () => void seen.push('hook added between') })
    expect(() => useApi()).toThrow('the storage is not reachable')
    expect(countOf(useApi())).toEqual({ extenders: 2, hooks: 4, endpoints: 0 })
    addContextExtender(() => void seen.push('extender added after'))
    expect(countOf(useApi())).toEqual({ extenders: 3, hooks: 4, endpoints: 0 })

    const request = openApp(runtime)
    expect((await request('GET', '/api/notes')).status).toBe(200)
    expect(seen).toEqual([
      'extender added before', 'extender of the plugin', 'extender added after',
      'hook added before', 'hook of the plugin', 'hook of the setup', 'hook added between',
    ])
  })

  it('keeps the database that was initialized before it', () => {
    const runtime = openFailing(1)
    const database = getDatabase()
    expect(() => useApi()).toThrow()
    expect(getDatabase()).toBe(database)
    expect(useApi().database).toBe(runtime.database)
  })

  it('is the response to a request, as a 500 without details, until a start succeeds', async () => {
    const request = openApp(openFailing(1))
    expect((await request('GET', '/api/notes')).status).toBe(500)
    expect((await request('GET', '/api/notes')).status).toBe(200)
  })
})

describe('addResourceHook() for a resource that is not registered', () => {
  const unknown = 'addResourceHook(\'note\'): the resource `note` is not registered. Use one of: notes.'

  it('fails the start when it was called before', () => {
    setDefaultRuntime(createRuntime(given => createApi({ ...options(), ...given })))
    addResourceHook('note', {})
    expect(() => useApi()).toThrow(unknown)
  })

  it('throws when the API exists', () => {
    setDefaultRuntime(createRuntime(given => createApi({ ...options(), ...given })))
    useApi()
    expect(() => addResourceHook('note', {})).toThrow(unknown)
  })
})
