/** The command `check`: problems of an app, and its access matrix compared with a file. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { check, findMatrixProblem, type Checked, type CheckOptions } from '../../../src/cli/check'

const cwd = fileURLToPath(new URL('../../fixtures/module-setup', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'matrix-'))
const matrix = relative(cwd, join(folder, 'access.md'))

afterAll(() => rmSync(folder, { recursive: true }))

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Creates an app with these files, inside the repository so that it finds the packages. */
function createApp(files: Readonly<Record<string, string>>): string {
  mkdirSync(join(root, '.nuxt'), { recursive: true })
  const app = mkdtempSync(join(root, '.nuxt/check-'))
  const config = 'export default defineNuxtConfig({ modules: [\'../../src/module\'], compatibilityDate: \'2026-01-01\', telemetry: false })'
  for (const [path, text] of Object.entries({ 'nuxt.config.ts': config, ...files })) {
    mkdirSync(dirname(join(app, path)), { recursive: true })
    writeFileSync(join(app, path), text)
  }
  return app
}

async function checkApp(
  files: Readonly<Record<string, string>>,
  options: Partial<CheckOptions> = {},
): Promise<Checked & { readonly hasMatrix: boolean }> {
  const app = createApp(files)
  try {
    return { ...(await check({ cwd: app, ...options })), hasMatrix: existsSync(join(app, 'access-matrix.md')) }
  }
  finally {
    rmSync(app, { recursive: true })
  }
}

const schemaOf = (columns: string) =>
  `import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'\nexport const posts = sqliteTable('posts', { ${columns} })\n`
const resourceOf = (options: string) =>
  `import { posts } from '../database/schema'\nexport default defineResource(posts, { permissions: { read: true }, ${options} })\n`

describe('check of an app with mistakes that only the loaded tables show', () => {
  it('lists them once each, and writes no access matrix', async () => {
    const { problems, hasMatrix } = await checkApp({
      'server/database/schema.ts': schemaOf('title: text()'),
      'server/resources/posts.ts': resourceOf('hiddenFields: [\'titel\' as never], fields: { boddy: { read: true } } as never'),
    }, { update: true })
    expect([problems, hasMatrix]).toEqual([[
      expect.stringContaining('`posts`: table "posts" has no primary key'),
      expect.stringContaining('`posts.hiddenFields` names `titel`'),
      expect.stringContaining('`posts.authorization.fields` names `boddy`'),
    ], false])
  })
})

describe('check of an app whose silent mistakes only the loaded tables show', () => {
  const files = {
    'server/database/schema.ts': schemaOf('id: integer().primaryKey(), organizationId: integer()'),
    'server/resources/posts.ts': resourceOf(''),
    'server/resources/staffPosts.ts': resourceOf('hiddenFields: [\'organizationId\']'),
  }

  it('warns of tenant columns without multi-tenancy, and notes a table with two sets of rules', async () => {
    const { problems, notes } = await checkApp(files, { update: true })
    expect(problems).toEqual([
      expect.stringMatching(/^`posts` and `staffPosts` have the column `organizationId`, but `autoApi\.multiTenancy` is not set/),
    ])
    expect(notes).toEqual([expect.stringMatching(/^`posts` and `staffPosts` are two resources of one table, with different rules/)])
  })
})

describe('check', () => {
  let first: Checked
  beforeAll(async () => {
    first = await check({ cwd, matrix, update: true })
  })

  it('reports columns that no index begins with', () => {
    expect(first).toEqual({
      resources: 4,
      notes: [],
      problems: [
        '`notes`: no index begins with the foreign key `postId`. Add `index().on(table.postId)` to the table.',
        '`notes`: no index begins with the column of groups in the trash `deletionId`. Add `index().on(table.deletionId)` to the table.',
      ],
    })
  })

  it('writes the access matrix with fallbacks, fields and row rules', () => {
    const text = readFileSync(join(folder, 'access.md'), 'utf8')
    const [, notes] = /## notes\n\n([\s\S]*?)(?=\n\n|\n$)/.exec(text) ?? []
    expect(notes?.split('\n')).toEqual([
      '| rule | who |',
      '|---|---|',
      expect.stringMatching(/^\| read \| `(?:ctx|\(ctx\)) => ctx\.user !== null` \|$/),
      '| create | nobody |',
      '| update | \'editor\' or \'notes:edit\' |',
      '| delete | nobody |',
      expect.stringMatching(/^\| aggregate \| .+ \(from read\) \|$/),
      '| restore | \'editor\' or \'notes:edit\' (from update) |',
      '| purge | disabled |',
      '| viewDeleted | \'editor\' or \'notes:edit\' (from update) |',
      '| rows | listFilter, not in the trash |',
      '| field userId: write | \'notes:assign\' |',
    ])
    expect(text).toContain('## tags\n\n| rule | who |\n|---|---|\n| read | everybody |\n')
  })

  it('accepts the matrix that it has written', () => {
    const file = join(folder, 'access.md')
    expect(findMatrixProblem(file, readFileSync(file, 'utf8'))).toEqual([])
  })

  it('fails if a rule has changed since the matrix was written, and names the rule', () => {
    const file = join(folder, 'access.md')
    const changed = readFileSync(file, 'utf8').replace(/(## tags\n[\s\S]*?\| read \| )everybody/, '$1\'editor\'')
    expect(findMatrixProblem(file, changed)).toEqual([
      '`access.md`: the access matrix has changed. Review the rules, then run `npx nuxt-auto-api check --update` and commit the file.\n'
      + '  - tags: "read" for who was everybody, is \'editor\'.',
    ])
  })

  it('fails without a matrix, and names the command that writes it', () => {
    expect(findMatrixProblem(join(folder, 'none.txt'), '')).toEqual([
      expect.stringMatching(
        /^`none\.txt`, the access matrix, does not exist yet\..* Run `npx nuxt-auto-api check --update` to write the file/,
      ),
    ])
  })

  it('refuses an app without the module', async () => {
    await expect(check({ cwd: join(cwd, 'layer') })).rejects.toThrow('The app does not use the module. Add \'nuxt-auto-api\' to `modules`')
  })
})
