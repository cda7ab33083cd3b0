/** A server in a process of its own that accepts uploads, so that tests can kill it and measure its memory. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createApp, defineEventHandler, setResponseStatus, toNodeListener } from 'h3'
import { createApi } from '../../../src/runtime/server/api/create'
import { createRuntime, mountRuntime, setDefaultRuntime } from '../../../src/runtime/server/api/runtime'
import { fileUpload } from '../../../src/runtime/plugins/file-upload/index'
import { fileSystemStorage } from '../../../src/runtime/plugins/file-upload/storage/file-system'
import plugins from '../../../src/runtime/server/routes/plugins'
import { runPluginTasks } from '../../../src/runtime/server/tasks/plugins'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'

const [file, folder] = process.argv.slice(2) as [string, string]
const client = new Database(file)
client.exec(
  'create table if not exists docs (id integer primary key, archive text, image text, pages text); insert or ignore into docs (id) values (1), (2), (3)',
)

const docs = sqliteTable('docs', {
  id: integer('id').primaryKey(),
  archive: text('archive', { mode: 'json' }),
  image: text('image', { mode: 'json' }),
  pages: text('pages', { mode: 'json' }),
})
const FIELDS = ['archive', 'image', 'pages']

/** The bytes that reached the storage, since the last time they were read. */
let stored = 0
const storage = fileSystemStorage({ base: folder })
const counting: typeof storage = {
  ...storage,
  put: (key, chunks, meta) => storage.put(key, (async function* () {
    for await (const chunk of chunks) {
      stored += chunk.byteLength
      yield chunk
    }
  })(), meta),
}
const plugin = fileUpload({
  resources: {
    docs: {
      archive: { accept: ['application/zip'], maxSize: '300mb' },
      image: { accept: ['image/png'], maxSize: '5mb' },
      pages: { accept: ['text/html', 'image/svg+xml', 'image/gif', 'text/plain'], multiple: true },
    },
  },
  storage: counting,
})

const runtime = createRuntime(options => createApi({
  registrations: [{ name: 'docs', schema: docs, protectedFields: FIELDS, authorization: { permissions: { read: true, update: true } } }],
  modules: [{ docs }],
  config: DEFAULT_CONFIG,
  plugins: [{ where: 'plugins[0]', listed: () => plugin }],
  builtPlugins: ['fileUpload.resources', 'fileUpload.buildSetup'],
  useRuntimeConfig: () => ({ autoApi: { secret: '' } }),
  ...options,
}), () => true)
setDefaultRuntime(runtime)
runtime.database.initialize(drizzle({ client }), 'better-sqlite3')
runtime.api()

const DAY = 24 * 60 * 60 * 1000
const app = createApp()
app.use(defineEventHandler((event) => {
  mountRuntime(event, runtime)
  Object.assign(event.context, { user: { id: 1 } })
}))
app.use('/orphans', defineEventHandler(() => runPluginTasks(new Date((Math.floor(Date.now() / DAY) + 3) * DAY))))
app.use('/usage', defineEventHandler(() => {
  // The maximum that `process.resourceUsage()` returns begins with that of the parent process.
  const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))!
  const usage = { peak: Number(peak) * 1024, stored }
  stored = 0
  return usage
}))
app.use('/page', defineEventHandler((event) => {
  event.node.res.setHeader('content-type', 'text/html')
  return '<!DOCTYPE html><title>page</title>'
}))
app.use(plugins)
app.use(defineEventHandler((event) => {
  setResponseStatus(event, 404)
  return ''
}))
const server = createServer(toNodeListener(app))
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`))
