/**
 * Runs tests with other versions of packages: `npm run test:versions -- nuxt-5 drizzle-1 --project e2e`. The first arguments name sets of
 * versions, the others are those of vitest. The tests run in a copy of the repository in the temporary folder, kept for the next run.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { copyPackages, copySources } from '../copy.ts'
import { root } from '../once.ts'
import { applySets, SETS, UPGRADES } from './sets.ts'

const given = process.argv.slice(2)
const other = given.findIndex(argument => !(argument in SETS))
const names = other === -1 ? given : given.slice(0, other)
const options = given.slice(names.length)

if (names.length === 0 || (options[0] !== undefined && !/^-|\//.test(options[0]))) {
  console.error(`${options[0] ?? 'Nothing'} is not a set of versions. The sets are ${Object.keys(SETS).join(', ')}.`)
  process.exit(1)
}

const copy = join(tmpdir(), `auto-api-${names.join('-')}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`)
const packages = join(copy, 'node_modules')

mkdirSync(copy, { recursive: true })
for (const entry of readdirSync(copy)) if (entry !== 'node_modules') rmSync(join(copy, entry), { recursive: true })
copySources(copy)
const read = (...path: string[]) => JSON.parse(readFileSync(join(root, ...path, 'package.json'), 'utf8'))
const manifest = JSON.stringify(applySets(read(), names, name => read('node_modules', name).version), null, 2)
writeFileSync(join(copy, 'package.json'), manifest)
install()
for (const { folder, command } of names.flatMap(name => UPGRADES[name] ?? [])) {
  const status = run(command, join(copy, folder))
  if (status !== 0) process.exit(status)
}
process.exitCode = run(['npm', 'test', '--', ...options])

/** Installs the packages, unless an earlier run installed the same ones. */
function install(): void {
  const stamp = join(packages, '.installed-for')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === manifest) return
  const began = Date.now()
  rmSync(packages, { recursive: true, force: true })
  copyPackages(copy)
  unlinkChanging()
  // With `--force`, npm installs packages that do not name a nightly or a release candidate among their peers. No package needs a script.
  const status = run(['npm', 'install', '--force', '--no-package-lock', '--prefer-offline', '--ignore-scripts', '--loglevel=error'])
  if (status !== 0) process.exit(status)
  writeFileSync(stamp, manifest)
  console.log(`installed ${names.join(' and ')} in ${Math.round((Date.now() - began) / 1000)} s`)
}

/** Replaces the links to files that tools change in place, because they would change the packages of the repository too. */
function unlinkChanging(): void {
  for (const cache of ['.cache', '.vite', '.vite-temp']) rmSync(join(packages, cache), { recursive: true, force: true })
  const tree = join(packages, '.package-lock.json')
  if (!existsSync(tree)) return
  rmSync(tree)
  copyFileSync(join(root, 'node_modules/.package-lock.json'), tree)
}

/** @returns the exit code. */
function run([command, ...args]: readonly string[], folder = copy): number {
  // Without npm's variables, with which npm would work on the repository.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  const PATH = [join(packages, '.bin'), process.env.PATH].join(delimiter)
  const { status } = spawnSync(command!, args, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...env, PATH },
    shell: process.platform === 'win32',
  })
  return status ?? 1
}
