/** Packs the package, installs it in a new app outside the repository, builds the app and starts it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { copyPackages, copySources, LEFT_BY_COMMANDS } from '../support/copy'
import { hashOf, makeOnce, root } from '../support/once'

/** The dependencies of the apps, in the versions of the repository. All apps with the same versions share one installation. */
const BESIDES = [
  'nuxt',
  'drizzle-orm',
  '@tanstack/vue-query',
  'better-sqlite3',
  '@types/better-sqlite3',
  'drizzle-kit',
  '@libsql/client',
  'pg',
  '@types/pg',
]

/** Those of the pages about sessions, which run with the newest versions only. */
const WITH_NEWEST = ['nuxt-auth-utils', 'better-auth', 'zod']

const manifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The environment without npm's variables, with which the app's npm would work on the repository. */
export const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST|NODE_ENV$|TEST$|TALLY_)/.test(name))),
  NUXT_TELEMETRY_DISABLED: '1',
}

/** An empty folder outside the repository, so that no parent folder contains packages. */
export const createFolder = () => mkdtempSync(join(tmpdir(), 'fresh-app-'))

/** Differences of an app from the default one. */
export interface Variant {
  /** Further dependencies, or other versions. */
  readonly versions?: Readonly<Record<string, string>>
  /** A folder whose files replace those of `app`. */
  readonly files?: string
  /** A folder, relative to the repository, whose files are those of the app's server. */
  readonly server?: string
  /** The tarball of another version of the package. @default that of the repository */
  readonly tarball?: string
}

/** Folders that are not needed to build the package. */
const NOT_PACKED = new Set(['bench', 'playground', '.ci'])

/** A copy of the repository like a fresh clone after `npm ci`: no other command has run in it. */
function cloneRepository(folder: string): string {
  const clone = join(folder, 'clone')
  copySources(clone)
  copyPackages(clone)
  return clone
}

/** Packs the package from a fresh clone as `npm publish` does, once for all tests. @returns the tarball */
export async function packPackage(): Promise<string> {
  const packs = join(root, 'test/package/.output/packed')
  await makeOnce(packs, hashOf(readdirSync(root).filter(name => !LEFT_BY_COMMANDS.has(name) && !NOT_PACKED.has(name))), () => {
    rmSync(packs, { recursive: true, force: true })
    mkdirSync(packs, { recursive: true })
    // Outside the repository, so that the clone cannot use its files.
    const folder = createFolder()
    run(cloneRepository(folder), 'npm', 'pack', '--pack-destination', packs)
    rmSync(folder, { recursive: true })
  })
  return join(packs, readdirSync(packs).find(name => name.endsWith('.tgz'))!)
}

/**
 * Packs an earlier version, with the packages that are installed now.
 * @param commit has to be part of the clone
 * @returns the tarball
 */
export async function packEarlier(commit: string): Promise<string> {
  const packs = join(root, 'test/package/.output/packed-earlier')
  await makeOnce(packs, commit, () => {
    rmSync(packs, { recursive: true, force: true })
    mkdirSync(packs, { recursive: true })
    const folder = createFolder()
    const archive = join(folder, 'earlier.tar')
    run(root, 'git', 'archive', '--format=tar', `--output=${archive}`, commit)
    run(folder, 'tar', '-xf', archive)
    copyPackages(folder)
    run(folder, 'npm', 'pack', '--pack-destination', packs)
    rmSync(folder, { recursive: true })
  })
  return join(packs, readdirSync(packs).find(name => name.endsWith('.tgz'))!)
}

/** Installs the packed package into a copy of `app`. @returns the tarball */
export async function installPackedPackage(folder: string, { versions, files, server, tarball }: Variant = {}): Promise<string> {
  cpSync(join(root, 'test/package/app'), folder, { recursive: true })
  cpSync(join(root, 'test/support/streams-plugin.ts'), join(folder, 'server/streams.ts'))
  if (files) cpSync(join(root, 'test/package', files), folder, { recursive: true })
  if (server) cpSync(join(root, server), join(folder, 'server'), { recursive: true })
  return await installPackages(folder, versions, tarball)
}

/** Installs the packed package and the dependencies, once for all apps with the same versions. @returns the tarball */
export async function installPackages(folder: string, versions: Variant['versions'] = {}, packed?: string): Promise<string> {
  const tarball = packed ?? await packPackage()
  const names = [...BESIDES, ...Object.keys(versions).length === 0 ? WITH_NEWEST : []]
  const installed: Record<string, string> = {
    ...Object.fromEntries(names.map(name => [name, manifest(join(root, 'node_modules', name)).version])),
    ...versions,
  }
  const text = JSON.stringify({
    name: 'fresh-app',
    private: true,
    type: 'module',
    scripts: { build: 'nuxt build', dev: 'nuxt dev' },
    dependencies: { 'nuxt-auto-api': `file:${tarball}`, ...installed },
    overrides: { rollup: manifest(root).overrides.rollup },
  })
  const key = createHash('sha256').update(text).update(readFileSync(tarball)).digest('hex')
  // Outside the repository, like the apps, and on the same disk as they are.
  const shared = join(tmpdir(), `auto-api-installed-${createHash('sha256').update(root + text).digest('hex').slice(0, 12)}`)
  await makeOnce(shared, key, () => {
    rmSync(shared, { recursive: true, force: true })
    mkdirSync(shared, { recursive: true })
    writeFileSync(join(shared, 'package.json'), text)
    // No dependency of the app is compiled at install time, so no compiler is needed.
    run(shared, 'npm', 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund')
  })
  writeFileSync(join(folder, 'package.json'), text)
  copyPackages(folder, shared)
  return tarball
}

/**
 * Runs a command to its end.
 * @throws With everything it printed when it fails.
 */
export function run(cwd: string, command: string, ...args: string[]): string {
  return runWith({ cwd }, command, ...args)
}

export interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** The Node that runs the command. @default the Node of the test */
  readonly node?: string
}

/** The app's tools come before those of the repository, which contain Node. */
const environmentOf = ({ cwd, env, node }: Surroundings) => ({
  ...environment,
  ...env,
  PATH: [...node === undefined ? [] : [dirname(node)], join(cwd, 'node_modules/.bin'), process.env.PATH].join(delimiter),
})

/** Runs a command to its end, in other surroundings. */
export function runWith(surroundings: Surroundings, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: surroundings.cwd,
    env: environmentOf(surroundings),
    encoding: 'utf8',
    timeout: 10 * 60_000,
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed\n${stdout}\n${stderr}`, { cause: error })
  return stdout
}

export interface RunningServer {
  readonly url: string
  stop: () => Promise<void>
}

/**
 * Starts the built app on a free port and waits until it responds.
 * @param folder the app
 * @param env more environment variables
 * @param options options of Node
 */
export async function startBuiltApp(
  folder: string,
  env: Readonly<Record<string, string>> = {},
  ...options: string[]
): Promise<RunningServer> {
  return await startServer({ cwd: tmpdir(), env }, process.execPath, ...options, join(folder, '.output/server/index.mjs'))
}

/** Starts a command that serves the app on the port of the environment variable `PORT`, and waits until it responds with a page. */
export async function startServer(surroundings: Surroundings, command: string, ...args: string[]): Promise<RunningServer> {
  const port = await freePort()
  const server = spawn(command, args, {
    cwd: surroundings.cwd,
    env: { ...environmentOf(surroundings), HOST: '127.0.0.1', PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group: a command can start the process that serves.
    detached: true,
  })
  let printed = ''
  server.stdout.on('data', chunk => printed += chunk)
  server.stderr.on('data', chunk => printed += chunk)
  const url = `http://127.0.0.1:${port}`
  for (const until = Date.now() + 120_000; Date.now() < until;) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}\n${printed}`)
    // The development server responds with 503 until the app is built.
    if (await fetch(url).then(({ status }) => status !== 503, () => false)) return { url, stop: () => stop(server) }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  await stop(server)
  throw new Error(`the server did not answer within two minutes\n${printed}`)
}

function stop(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve()
    server.once('exit', () => resolve())
    process.kill(-server.pid!, 'SIGKILL')
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject).listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no free port')))
    })
  })
}
