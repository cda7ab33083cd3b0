/**
 * Measures how long the development server takes from saving a file to the first response with the change, beside an empty Nuxt app with
 * one
 * handler. Each app has a file with rules, a file with tables, and a handler of its own.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { installPackage } from './builds.ts'
import { median } from './median.ts'

/** Inside the repository, so that Node finds its packages. */
const FOLDER = fileURLToPath(new URL('.output/saves', import.meta.url))
const ROUNDS = 7
const TIMEOUT = 120_000

interface Saved {
  readonly kind: string
  readonly file: string
  /** The text of the file before and after a save. */
  readonly texts: readonly [string, string]
  /** The path that shows the change. */
  readonly path: string
  /** What the response contains with each text. */
  readonly shows: readonly [string, string]
}

interface App {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly saves: readonly Saved[]
}

const config = (modules: string) => `export default defineNuxtConfig({
  ${modules}compatibilityDate: '2026-01-01', devtools: { enabled: false }, telemetry: false,
})`

const vary = (text: (value: 0 | 1) => string): [string, string] => [text(0), text(1)]

const HELLO: Saved = {
  kind: 'a handler of the app', file: 'server/routes/hello.ts', path: '/hello', shows: ['hello 0', 'hello 1'],
  texts: vary(value => `export default defineEventHandler(() => 'hello ${value}')`),
}

const EMPTY: App = {
  name: 'empty app',
  files: {
    'app/app.vue': '<template><p>An app</p></template>',
    'nuxt.config.ts': config(''),
    'server/routes/api/posts.get.ts': `import { columns } from '../../database/schema'
export default defineEventHandler(() => ({ data: [Object.fromEntries(columns.map(name => [name, 1]))] }))`,
    'server/routes/api/comments.get.ts': `import { canRead } from '../../auth/comments'
export default defineEventHandler(() => {
  if (!canRead) throw createError({ statusCode: 401 })
  return { data: [] }
})`,
  },
  saves: [
    {
      kind: 'a file with rules', file: 'server/auth/comments.ts', path: '/api/comments', shows: ['200', '401'],
      texts: vary(value => `export const canRead = ${value === 0}`),
    },
    {
      kind: 'a file with tables', file: 'server/database/schema.ts', path: '/api/posts', shows: ['"title0"', '"title1"'],
      texts: vary(value => `export const columns = ['id', 'title${value}']`),
    },
    HELLO,
  ],
}

/** The names of further resources. */
const MORE = ['users', 'tags', 'media', 'organizations']

const API: App = {
  name: 'nuxt-auto-api',
  files: {
    'app/app.vue': EMPTY.files['app/app.vue']!,
    'nuxt.config.ts': config('modules: [\'nuxt-auto-api\'], '),
    'server/plugins/database.ts': `import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
export default defineNitroPlugin(() => {
  const client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text); insert into posts values (1, 1); create table comments (id integer primary key)')
  initializeDatabase(drizzle({ client }), 'better-sqlite3')
})`,
    ...Object.fromEntries(
      ['posts', ...MORE].map(name => [
        `server/resources/${name}.ts`,
        `import { ${name} } from '../database/schema'
export default defineResource(${name}, { permissions: { read: true } })`,
      ]),
    ),
  },
  saves: [
    {
      kind: 'a file with rules',
      file: 'server/resources/comments.ts',
      path: '/api/comments',
      shows: ['200', '401'],
      texts: vary(
        value => `import { comments } from '../database/schema'
export default defineResource(comments, { permissions: { read: ${value === 0 ? 'true' : '\'reader\''} } })`,
      ),
    },
    {
      kind: 'a file with tables',
      file: 'server/database/schema.ts',
      path: '/api/posts',
      shows: ['"title0"', '"title1"'],
      texts: vary(
        value => `import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
export const posts = sqliteTable('posts', { id: integer().primaryKey(), title${value}: text('title') })
${['comments', ...MORE].map(name => `export const ${name} = sqliteTable('${name}', { id: integer().primaryKey() })`).join('\n')}`,
      ),
    },
    HELLO,
  ],
}

/** Prints the medians and their ratios. @throws When a response does not show a change. */
export async function compareSaves(): Promise<void> {
  installPackage(FOLDER)
  const apps = [EMPTY, API]
  const servers: { readonly url: string, readonly stop: () => void }[] = []
  const seconds = apps.map(({ saves }) => saves.map(() => [] as number[]))
  try {
    for (const app of apps) servers.push(await serve(app))
    // The first round is not measured: it fills the caches of the servers.
    for (let round = -1; round < ROUNDS; round++) {
      for (const [kind] of EMPTY.saves.entries()) {
        for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const text = round % 2 === 0 ? 0 : 1
          const taken = await save(apps[index]!, apps[index]!.saves[kind]!, text, servers[index]!.url)
          if (round >= 0) seconds[index]![kind]!.push(taken)
        }
      }
    }
  }
  finally {
    for (const server of servers) server.stop()
  }
  const medians = EMPTY.saves.map((_, kind) => seconds.map(ofApp => median(ofApp[kind]!)) as [number, number])
  console.info([
    `| saved | seconds until the response, median of ${ROUNDS} | in an empty app | ratio |`,
    '| --- | --: | --: | --: |',
    ...EMPTY.saves.map(({ kind }, index) => {
      const [empty, own] = medians[index]!
      return `| ${[kind, own.toFixed(2), empty.toFixed(2), (own / empty).toFixed(2)].join(' | ')} |`
    }),
  ].join('\n'))
  rmSync(FOLDER, { recursive: true })
}

/** Saves a file. @returns the seconds until a response shows the change. */
async function save(app: App, { file, texts, path, shows }: Saved, text: 0 | 1, url: string): Promise<number> {
  // The watcher of Nitro does not see a file that was saved again at once.
  await wait(1500)
  const begin = performance.now()
  write(app, file, texts[text])
  await until(url + path, shows[text], `${app.name} does not show the change of ${file}`)
  return (performance.now() - begin) / 1000
}

/** Writes an app and serves it in development. */
async function serve(app: App): Promise<{ readonly url: string, readonly stop: () => void }> {
  write(app, 'package.json', '{ "type": "module", "private": true }')
  for (const [file, text] of Object.entries(app.files)) write(app, file, text)
  for (const { file, texts } of app.saves) write(app, file, texts[0])
  const server = spawn('nuxi', ['dev', folderOf(app), '--host', '127.0.0.1', '--port', '0'], {
    env: { ...process.env, NODE_ENV: 'development', NUXT_TELEMETRY_DISABLED: '1' }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
  })
  const stop = () => {
    process.off('exit', stop)
    try {
      process.kill(-server.pid!, 'SIGKILL')
    }
    catch { /* The server has ended. */ }
  }
  process.once('exit', stop)
  const url = await addressOf(server)
  for (const { path, shows } of app.saves) await until(url + path, shows[0], `${app.name} does not start`, 10_000)
  return { url, stop }
}

const folderOf = ({ name }: App) => `${FOLDER}/${name.replace(' ', '-')}`

function write(app: App, file: string, text: string): void {
  const path = `${folderOf(app)}/${file}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${text}\n`)
}

/** @param patience milliseconds of one request: while Nitro replaces its worker, it can leave a request without a response */
async function until(url: string, shown: string, problem: string, patience = 300): Promise<void> {
  let last = ''
  for (const end = Date.now() + TIMEOUT; Date.now() < end; await wait(20)) {
    last = await fetch(url, { signal: AbortSignal.timeout(patience) })
      .then(async response => `${response.status} ${await response.text()}`, String)
    if (last.includes(shown) && !/^50\d/.test(last)) return
  }
  throw new Error(`${problem}.\n${last.slice(0, 2000)}`)
}

function addressOf(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const listen = (chunk: Buffer) => {
      printed += chunk
      const [url] = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(printed) ?? []
      if (url) resolve(url)
    }
    for (const stream of [server.stdout!, server.stderr!]) stream.on('data', listen)
    server.once('close', code => reject(new Error(`The development server ended with ${code}.\n${printed}`)))
  })
}
