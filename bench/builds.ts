/** Measures how long an app takes to build without resources, with one, and with 200 in one file. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { median } from './median.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Inside the repository, so that Node finds its packages. */
const FOLDER = fileURLToPath(new URL('.output/builds', import.meta.url))
const TABLES = 200
const REGISTERED = [0, 1, TABLES]
const ROUNDS = 5

/** Builds each app five times in turns, and prints the medians and the differences. @throws When an app does not build. */
export function compareBuilds(): void {
  installPackage(FOLDER)
  const apps = REGISTERED.map(resources => ({ resources, folder: writeApp(resources), seconds: [] as number[] }))
  // The first build of each app is not measured: it fills the caches of the machine.
  for (const { folder } of apps) build(folder)
  for (let round = 0; round < ROUNDS; round++) {
    for (const { folder, seconds } of round % 2 === 0 ? apps : apps.toReversed()) seconds.push(build(folder))
  }
  const [without] = apps
  console.info(['| resources | seconds, median of 5 | more than without |', '| --: | --: | --: |', ...apps.map(({ resources, seconds }) =>
    `| ${resources} | ${median(seconds).toFixed(2)} | ${(median(seconds) - median(without!.seconds)).toFixed(2)} |`)].join('\n'))
  rmSync(FOLDER, { recursive: true })
}

/** Installs the packed package. With the sources instead, the app's build would have to compile them. */
export function installPackage(folder: string): void {
  const target = `${folder}/node_modules/nuxt-auto-api`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const built = existsSync(`${ROOT}/dist`)
  run('npm', ['pack', '--pack-destination', folder], ROOT)
  if (!built) rmSync(`${ROOT}/dist`, { recursive: true, force: true })
  run(
    'tar',
    ['-xzf', `${folder}/${readdirSync(folder).find(name => name.endsWith('.tgz'))}`, '-C', target, '--strip-components', '1'],
    ROOT,
  )
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1' },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.\n${stdout}\n${stderr}`)
}

function build(folder: string): number {
  for (const made of ['.nuxt', '.output']) rmSync(`${folder}/${made}`, { recursive: true, force: true })
  const start = performance.now()
  run('nuxi', ['build', folder], ROOT)
  return (performance.now() - start) / 1000
}

function writeApp(resources: number): string {
  const folder = `${FOLDER}/app${resources}`
  const files = {
    'package.json': '{ "type": "module", "private": true }',
    'app/app.vue': '<template><p>An app</p></template>',
    'nuxt.config.ts': `export default defineNuxtConfig({
  modules: ['nuxt-auto-api'], compatibilityDate: '2026-01-01', devtools: { enabled: false }, telemetry: false,
})`,
    'server/schema.ts': `import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
${Array.from({ length: TABLES }, (_, index) => tableCode(`table${index}`)).join('\n')}`,
    'server/auth.ts': 'export const auth = { permissions: { read: true } }',
    // The database belongs to the app: all three apps have it.
    'server/plugins/database.ts': `import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import * as schema from '../schema'
export default defineNitroPlugin(() => initializeDatabase(drizzle({ client: new Database(':memory:'), schema }), 'better-sqlite3'))`,
    'modules/resources.ts': `import { createResolver } from '@nuxt/kit'
import { createModuleImport } from 'nuxt-auto-api'
const { resolve } = createResolver(import.meta.url)
export default (_options, nuxt) => {
  nuxt.hook('autoApi:registerSchema', (registry) => {
    for (let index = 0; index < ${resources}; index++) {
      registry.register('table' + index, {
        schema: createModuleImport(resolve('../server/schema'), 'table' + index),
        authorization: createModuleImport(resolve('../server/auth'), 'auth'),
      })
    }
  })
}`,
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(`${folder}/${name}`.replace(/\/[^/]+$/, ''), { recursive: true })
    writeFileSync(`${folder}/${name}`, `${text}\n`)
  }
  return folder
}

function tableCode(name: string): string {
  const columns = `id: integer('id').primaryKey(), title: text('title').notNull(), views: integer('views'), at: integer('at', { mode: 'timestamp' })`
  return `export const ${name} = sqliteTable('${name}', { ${columns} })`
}
