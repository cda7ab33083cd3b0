/** better-sqlite3 13 on Node 20, which ends the process without a message. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { guardNativeDriver } from '../../../src/runtime/shared/native-driver'
import { findNode20 } from '../../support/node-20'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Opens a database after it has loaded these files, on Node 20. */
function openOnNode20(...files: readonly string[]) {
  const script = `
    const jiti = require('jiti').createJiti(process.cwd() + '/');
    Promise.all(${JSON.stringify(files)}.map(file => jiti.import('./src/' + file)))
      .then(() => new (require('better-sqlite3'))(':memory:'))
      .catch((error) => { console.error(error.message); process.exitCode = 3 })
  `
  const { status, signal, stderr } = spawnSync(findNode20(), ['-e', script], { cwd: root, encoding: 'utf8' })
  return { status, signal, text: stderr.trim() }
}

describe('better-sqlite3 13 on Node 20', () => {
  it('ends the process without a message, which is why the driver is guarded', () => {
    expect(openOnNode20()).toEqual({ status: null, signal: 'SIGSEGV', text: '' })
  })

  it('is refused in words before it is loaded, once the first plugin of the server is loaded', () => {
    const { status, text } = openOnNode20('runtime/server/nitro/native-driver.ts')
    expect(status).toBe(3)
    expect(text).toMatch(
      /^\[auto-api\] better-sqlite3 13 needs Node 22 or newer, and this is Node 20\.\d+\.\d+\. Run `npm install better-sqlite3@12`, or use a newer Node\.$/,
    )
  })
})

describe('a driver that Node loads', () => {
  const loadWith = (version: string, file: string) => {
    const loaded: unknown[] = []
    const node = { versions: { node: version }, dlopen: (module: object, path: string) => loaded.push(path) }
    guardNativeDriver(node)
    node.dlopen({}, file)
    return loaded
  }

  it.each([
    ['20.19.0', '/app/node_modules/better-sqlite3/prebuilds/linux-x64.node'],
    ['20.19.0', '/app/.output/server/node_modules/.nitro/better-sqlite3@13.2.0/prebuilds/linux-x64.node'],
    ['20.19.0', 'C:\\app\\node_modules\\better-sqlite3\\prebuilds\\win32-x64.node'],
  ])('is refused on Node %s: %s', (version, file) => {
    expect(() => loadWith(version, file)).toThrow('better-sqlite3 13 needs Node 22 or newer, and this is Node 20.19.0.')
  })

  it.each([
    ['20.19.0', '/app/node_modules/better-sqlite3/build/Release/better_sqlite3.node'],
    ['20.19.0', '/app/node_modules/@libsql/linux-x64-gnu/index.node'],
    ['22.12.0', '/app/node_modules/better-sqlite3/prebuilds/linux-x64.node'],
    ['24.0.0', '/app/node_modules/better-sqlite3/prebuilds/linux-x64.node'],
  ])('is loaded as before on Node %s: %s', (version, file) => {
    expect(loadWith(version, file)).toEqual([file])
  })

  it('is no concern of a platform without a process', () => {
    expect(() => guardNativeDriver(undefined)).not.toThrow()
    expect(() => guardNativeDriver({ versions: {} })).not.toThrow()
  })
})
