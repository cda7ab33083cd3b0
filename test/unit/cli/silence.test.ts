/** The command `check` prints only its own lines, whatever the app and its modules write while and after it loads. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cwd = mkdtempSync(join(root, 'test/fixtures/.check-'))

beforeAll(() => {
  cpSync(join(root, 'test/fixtures/module-setup'), cwd, { recursive: true, filter: path => !/\.nuxt|node_modules/.test(path) })
  // Nuxt loads the files of this folder as modules.
  writeFileSync(join(cwd, 'modules/noisy.ts'), `
import { consola } from 'consola'
export default () => {
  const write = (when) => {
    console.log('noise of console', when)
    console.warn('noise of console', when)
    consola.info('noise of consola', when)
    process.stderr.write('noise of a stream\\n', () => process.stdout.write('noise of a callback\\n'))
  }
  write('now')
  process.once('beforeExit', () => write('at the end'))
  if (process.env.BROKEN) throw new Error('The module is broken.')
}
`)
})
afterAll(() => rmSync(cwd, { recursive: true }))

function run(command: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/jiti/lib/jiti-cli.mjs'), join(root, 'src/cli/index.ts'), ...command, '--cwd', cwd],
    {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, NODE_ENV: undefined, TEST: undefined, VITEST: undefined, CI: '1', NO_COLOR: '1', ...env },
    },
  )
  return { status, printed: `${stdout}${stderr}`.split('\n').map(line => line.trim()).filter(line => line !== '') }
}

describe('a command that loads the app', { timeout: 300_000 }, () => {
  it('prints nothing but its result: check', () => {
    const { status, printed } = run(['check', '--matrix', '.nuxt-matrix.md', '--update'])
    expect([status, printed]).toEqual([1, [
      expect.stringMatching(/^\[error\]\s+`notes`: no index begins with the foreign key/),
      expect.stringMatching(/^`notes`: no index begins with the column of groups/),
    ]])
  })

  it('prints nothing but its result: openapi', () => {
    const { status, printed } = run(['openapi', '--output', '.nuxt-openapi.json'])
    expect([status, printed]).toEqual([0, [expect.stringMatching(/^\[success\] \.nuxt-openapi\.json: \d+ operations\.$/)]])
  })

  it('prints why the app cannot be loaded', () => {
    const { status, printed } = run(['check'], { BROKEN: '1' })
    expect([status, printed]).toEqual([1, ['[error] The module is broken.']])
  })
})
