/** The command `check`: problems of an app, and its access matrix compared with a file. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { check, findMatrixProblem, type Checked } from '../../../src/cli/check'

const cwd = fileURLToPath(new URL('../../fixtures/module-setup', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'matrix-'))
const matrix = relative(cwd, join(folder, 'access.txt'))

afterAll(() => rmSync(folder, { recursive: true }))

describe('check', () => {
  let first: Checked
  beforeAll(async () => {
    first = await check({ cwd, matrix, update: true })
  })

  it('reports columns that no index begins with', () => {
    expect(first).toEqual({
      resources: 4,
      problems: [
        '`notes`: no index begins with the foreign key `postId`. Add `index().on(table.postId)` to the table.',
        '`notes`: no index begins with the column of groups in the trash `deletionId`. Add `index().on(table.deletionId)` to the table.',
      ],
    })
  })

  it('writes the access matrix with fallbacks, fields and row rules', () => {
    const lines = readFileSync(join(folder, 'access.txt'), 'utf8').split('\n').map(line => line.replace(/ {2,}/, ': '))
    expect(lines.filter(line => line.startsWith('notes'))).toEqual([
      expect.stringMatching(/^notes\.read: ctx => ctx\.user !== null$|^notes\.read: \(ctx\) => ctx\.user !== null$/),
      'notes.create: nobody',
      'notes.update: \'editor\' or \'notes:edit\'',
      'notes.delete: nobody',
      expect.stringMatching(/^notes\.aggregate: .+ \(from read\)$/),
      'notes.restore: \'editor\' or \'notes:edit\' (from update)',
      'notes.purge: disabled',
      'notes.viewDeleted: \'editor\' or \'notes:edit\' (from update)',
      'notes rows: listFilter, not in the trash',
      'notes.userId write: \'notes:assign\'',
    ])
    expect(lines).toContain('tags.read: everybody')
  })

  it('accepts the matrix that it has written', () => {
    const file = join(folder, 'access.txt')
    expect(findMatrixProblem(file, readFileSync(file, 'utf8'))).toEqual([])
  })

  it('fails if a rule has changed since the matrix was written, and shows both lines', () => {
    const file = join(folder, 'access.txt')
    const changed = readFileSync(file, 'utf8').replace(/^(tags\.read +)everybody$/m, '$1\'editor\'')
    expect(findMatrixProblem(file, changed)).toEqual([expect.stringMatching(
      /^`access\.txt`: the access matrix has changed\. Review the rules, then run `npx nuxt-auto-api check --update` and commit the file\.\n {2}- tags\.read +everybody\n {2}\+ tags\.read +'editor'$/,
    )])
  })

  it('fails without a matrix', () => {
    expect(findMatrixProblem(join(folder, 'none.txt'), '')).toEqual([expect.stringContaining('`none.txt`, the access matrix, does not exist.')])
  })

  it('refuses an app without the module', async () => {
    await expect(check({ cwd: join(cwd, 'layer') })).rejects.toThrow('The app does not use the module. Add \'nuxt-auto-api\' to `modules`')
  })
})
