/** The commands `init` and `add`: the files that they write, and the files that they keep. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { add } from '../../../src/cli/add'
import { init } from '../../../src/cli/init'
import { addModule } from '../../../src/cli/nuxt-config'
import { initTemplate } from '../../../src/cli/template'

const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
let cwd: string

const write = (path: string, text: string) => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}
const read = (path: string) => readFileSync(join(cwd, path), 'utf8')

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-'))
  write('package.json', JSON.stringify({ dependencies: { nuxt: '^4.0.0' } }))
})
afterEach(() => rmSync(cwd, { recursive: true }))

describe('init', () => {
  it('writes the files of the guide, and names every file and the commands that remain', () => {
    write('app/app.vue', '<template />')
    write('nuxt.config.ts', 'export default defineNuxtConfig({\n  devtools: { enabled: true },\n})\n')
    const { changes, commands } = init({ cwd, docs })
    expect(changes).toEqual([
      'changed  nuxt.config.ts: added \'nuxt-auto-api\' to `modules`',
      'created  server/database/schema.ts',
      'created  drizzle.config.ts',
      'created  server/plugins/database.ts',
      'created  server/resources/posts.ts',
      'created  server/middleware/caller.ts',
      'kept     app/app.vue (the guide has an example of a page)',
    ])
    expect(commands).toEqual([
      'npm install nuxt-auto-api drizzle-orm @libsql/client vue@3 @tanstack/vue-query',
      'npm install --save-dev drizzle-kit',
      'npx drizzle-kit push',
      'npm run dev',
    ])
    expect(read('app/app.vue')).toBe('<template />')
    expect(read('nuxt.config.ts')).toBe(
      'export default defineNuxtConfig({\n  modules: [\'nuxt-auto-api\'],\n  devtools: { enabled: true },\n})\n',
    )
    expect(readFileSync(join(docs, '1.start/1.getting-started.md'), 'utf8')).toContain(read('server/resources/posts.ts'))
  })

  it('changes nothing when it runs again', () => {
    init({ cwd, docs })
    write('server/resources/posts.ts', '// mine')
    expect(init({ cwd, docs }).changes.filter(line => !line.startsWith('kept '))).toEqual([])
    expect(read('server/resources/posts.ts')).toBe('// mine')
  })

  it('writes nothing in a dry run', () => {
    expect(init({ cwd, docs, dryRun: true }).changes).toContain('created  server/resources/posts.ts')
    expect(existsSync(join(cwd, 'server'))).toBe(false)
  })

  it('uses PostgreSQL if its driver is installed, and the package manager of the app', () => {
    write('package.json', JSON.stringify({ dependencies: { 'nuxt': '4', 'pg': '8', 'drizzle-orm': '0.45', 'nuxt-auto-api': '1' } }))
    write('pnpm-lock.yaml', '')
    const { commands } = init({ cwd, docs })
    expect(read('server/plugins/database.ts')).toContain('\'postgres\'')
    expect(commands).toEqual([
      'pnpm add vue@3 @tanstack/vue-query',
      'pnpm add -D drizzle-kit @types/pg',
      'pnpm drizzle-kit push',
      'pnpm dev',
    ])
  })

  it('refuses a folder without a Nuxt app', () => {
    write('package.json', '{}')
    expect(() => init({ cwd, docs })).toThrow('has no dependency `nuxt`. Run the command in a Nuxt app')
    expect(existsSync(join(cwd, 'server'))).toBe(false)
  })
})

describe('init with a template', () => {
  const start = (template: string, folder = 'My App!', dryRun = false) =>
    initTemplate({ template, cwd: join(cwd, folder), from: cwd, docs, dryRun })
  const versionOf = (path: string) => (JSON.parse(read(path)) as { dependencies: Record<string, string> }).dependencies['nuxt-auto-api']
  const { version } = JSON.parse(readFileSync(join(docs, '../package.json'), 'utf8')) as { version: string }

  it.each([
    ['sqlite', 'drizzle-orm/libsql', 'drizzle-kit migrate && nuxt dev'],
    ['postgres', 'drizzle-orm/node-postgres', 'drizzle-kit migrate && nuxt dev'],
    ['cloudflare', 'drizzle-orm/d1', 'npm run migrate && nuxt dev'],
  ])('writes a complete app with the version of the package: %s', (template, driver, dev) => {
    const { changes, commands } = start(template)
    expect(changes).toEqual(expect.arrayContaining(['package.json', '.env', '.gitignore', 'server/resources/tasks.ts', 'test/access.test.ts'].map(path => `created  ${path}`)))
    expect(commands).toEqual(['cd \'My App!\'', 'npm install', 'npm run dev'])
    expect(JSON.parse(read('My App!/package.json'))).toMatchObject({ name: 'my-app', scripts: { dev } })
    expect(versionOf('My App!/package.json')).toBe(`^${version}`)
    expect(read('My App!/server/database/client.ts')).toContain(driver)
    expect(read('My App!/.gitignore')).toContain('.env')
    for (const line of changes) expect(existsSync(join(cwd, 'My App!', line.slice('created  '.length)))).toBe(true)
  })

  it('writes the rules that the guide shows', () => {
    start('sqlite')
    const page = readFileSync(join(docs, '1.start/1.getting-started.md'), 'utf8')
    expect(page).toContain(`\`\`\`ts\n${read('My App!/server/resources/tasks.ts')}\`\`\``)
  })

  it('gives each app and each purpose another secret', () => {
    for (const folder of ['a', 'b']) start('sqlite', folder)
    const secrets = ['a/.env', 'b/.env'].flatMap(path => [...read(path).matchAll(/SECRET=(.*)/g)].map(([, secret]) => secret!))
    expect(new Set(secrets).size).toBe(4)
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/)
  })

  it('writes into the current folder, with files that the template does not have', () => {
    rmSync(join(cwd, 'package.json'))
    write('.git/HEAD', '')
    expect(start('sqlite', '.').commands).toEqual(['npm install', 'npm run dev'])
    expect(existsSync(join(cwd, 'nuxt.config.ts'))).toBe(true)
  })

  it('refuses a folder with files that it would replace, and writes nothing', () => {
    write('server/resources/tasks.ts', '// mine')
    expect(() => start('sqlite', '.')).toThrow(/ contains files of the template, so nothing was written: `package\.json`, `server\/resources\/tasks\.ts`\. Name an empty folder\.$/)
    expect(read('server/resources/tasks.ts')).toBe('// mine')
    expect(existsSync(join(cwd, 'nuxt.config.ts'))).toBe(false)
  })

  it('writes nothing in a dry run', () => {
    expect(start('sqlite', 'app', true).changes).toContain('created  package.json')
    expect(existsSync(join(cwd, 'app'))).toBe(false)
  })

  it.each([
    ['sqllite', 'There is no template `sqllite`. The templates are: `sqlite`, `postgres`, `cloudflare`. Did you mean `sqlite`?'],
    ['constructor', 'There is no template `constructor`. The templates are: `sqlite`, `postgres`, `cloudflare`.'],
  ])('names the templates for an unknown one: %s', (template, message) => {
    expect(() => start(template)).toThrow(message)
    expect(existsSync(join(cwd, 'My App!'))).toBe(false)
  })
})

describe('the module in nuxt.config', () => {
  it.each([
    ['export default defineNuxtConfig({})', 'export default defineNuxtConfig({\n  modules: [\'nuxt-auto-api\'],\n})'],
    ['export default defineNuxtConfig({ ssr: true })', 'export default defineNuxtConfig({\n  modules: [\'nuxt-auto-api\'], ssr: true })'],
    ['export default { modules: [] }', 'export default { modules: [\'nuxt-auto-api\'] }'],
    [
      'export default defineNuxtConfig({ modules: [\'@nuxt/ui\', [\'a\', {}]] })',
      'export default defineNuxtConfig({ modules: [\'@nuxt/ui\', [\'a\', {}], \'nuxt-auto-api\'] })',
    ],
  ])('is added: %s', (source, result) => {
    expect(addModule(source, 'nuxt-auto-api')).toBe(result)
  })

  it.each([
    'export default defineNuxtConfig({ modules: [\'nuxt-auto-api\'] })',
    'export default defineNuxtConfig({ modules: [[\'nuxt-auto-api\', {}]] })',
  ])('is not added twice: %s', (source) => {
    expect(addModule(source, 'nuxt-auto-api')).toBe(source)
  })

  it.each(['export default config', 'export default defineNuxtConfig({ modules: list })', 'export default {', 'module.exports = {}'])(
    'is left to the user if the config cannot be read: %s',
    (source) => {
      expect(addModule(source, 'nuxt-auto-api')).toBeUndefined()
    },
  )
})

describe('add', () => {
  const SCHEMA
    = 'import { sqliteTable } from \'drizzle-orm/sqlite-core\'\nexport const posts = sqliteTable(\'posts\', {})\nexport const blogComments = sqliteTable(\'blog_comments\', {})\n'

  it('writes the resource file of a table, without public access', () => {
    write('server/database/schema.ts', SCHEMA)
    expect(add({ cwd, resource: 'blog-comments' })).toBe('server/resources/blog-comments.ts')
    expect(read('server/resources/blog-comments.ts')).toBe(`import { blogComments } from '../database/schema'

// An operation without a permission is refused. \`true\` allows everybody.
export default defineResource(blogComments, {
  permissions: {
    read: ctx => ctx.user !== null,
    create: 'blog-comments:edit',
    update: 'blog-comments:edit',
    delete: 'blog-comments:edit',
  },
})
`)
  })

  it('finds the tables where drizzle.config says, and another table for a name', () => {
    write('drizzle.config.ts', 'export default defineConfig({ schema: \'./db\' })')
    write('db/tables/main.ts', SCHEMA)
    add({ cwd, resource: 'articles', table: 'posts' })
    expect(read('server/resources/articles.ts')).toContain('import { posts } from \'../../db/tables/main\'')
  })

  it.each([
    ['pots', 'The schema does not export a table `pots`. The tables are: `posts`, `blogComments`. Did you mean `posts`?'],
    ['invoices', 'Add it to the schema, or name another export with `--table`.'],
    ['permissions', '`permissions` is the name of a route of the API.'],
    ['_posts', '`_posts` begins with `_`'],
    ['../posts', '`../posts` cannot be a segment of a URL'],
  ])('refuses %s', (resource, message) => {
    write('server/database/schema.ts', SCHEMA)
    expect(() => add({ cwd, resource })).toThrow(message)
    expect(existsSync(join(cwd, 'server/resources'))).toBe(false)
  })

  it.each(['pgView(\'stats\').as(qb => qb)', 'pgMaterializedView(\'stats\', {})', 'blog.materializedView(\'stats\')', 'sqliteView(\'stats\')'])(
    'writes a key and no permission to write for a view: %s', (view) => {
      write('server/database/schema.ts', `${SCHEMA}export const stats = ${view}\n`)
      add({ cwd, resource: 'stats' })
      expect(read('server/resources/stats.ts')).toBe(`import { stats } from '../database/schema'

export default defineResource(stats, {
  // The column that identifies a row, or a list of several: a view has no primary key.
  key: 'id',
  permissions: {
    read: ctx => ctx.user !== null,
  },
})
`)
      expect(() => add({ cwd, resource: 'stat' })).toThrow('Did you mean `stats`?')
    })

  it('never replaces a file', () => {
    write('server/database/schema.ts', SCHEMA)
    write('server/resources/posts.ts', '// mine')
    expect(() => add({ cwd, resource: 'posts' })).toThrow('`server/resources/posts.ts` exists already, so nothing was changed.')
    expect(read('server/resources/posts.ts')).toBe('// mine')
  })
})
