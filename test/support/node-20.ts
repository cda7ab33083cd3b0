/** Finds the oldest supported Node: one on this machine, or one that npm installs. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const BINARY = process.platform === 'win32' ? 'node.exe' : 'node'

const isNode20 = (file: string): boolean =>
  existsSync(file) && /^v20\./.test(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '')

/** @throws When the machine has none and npm cannot install one: tests fail then, they are not skipped. */
export function findNode20(): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/bin', '/usr/bin']
  const found = folders.map(folder => join(folder, BINARY)).find(isNode20)
  if (found !== undefined) return found
  // The package `node` holds a release of Node.
  const folder = join(tmpdir(), 'auto-api-node-20')
  const installed = join(folder, 'node_modules/node/bin', BINARY)
  if (isNode20(installed)) return installed
  mkdirSync(folder, { recursive: true })
  const { stderr } = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', 'node@20'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (!isNode20(installed)) throw new Error(`Node 20 is not on this machine, and npm could not install it.\n${stderr}`)
  return installed
}
