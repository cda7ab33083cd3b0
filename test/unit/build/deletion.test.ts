/** Each built-in plugin can be deleted: its folder, and its lines in the two lists. The rest compiles. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { SLICES } from '../../../src/runtime/plugins/slices'
import { isFull } from '../../support/tiers'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = join(root, 'src/runtime/plugins')
const LISTS = ['index', 'slices', 'schema-sqlite', 'schema-pg', 'schema-mysql'].map(name => join(folder, `${name}.ts`))

/** The server part of the admin is no plugin of its own: the module of the admin lists it. */
const PLUGINS = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory() && entry.name !== 'admin').map(({ name }) => name)

/** Plugins that are built on another one are deleted with it. */
const BUILT_ON: Readonly<Record<string, readonly string[]>> = { 'audit-log': ['activity-feed'] }

const config = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.json'), { noEmit: true, incremental: false, composite: false }, {
  ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {},
})!
const sources = config.fileNames.filter(file => /\/src\/.*\.ts$|\.d\.ts$/.test(file))

/** A list without the lines of the deleted plugins, and without their names in the list of slices. */
function without(text: string, deleted: readonly string[]): string {
  const names: string[] = []
  const lines = text.split('\n').filter((line) => {
    const from = /from '\.\/([\w-]+)\//.exec(line)
    if (!from || !deleted.includes(from[1]!)) return true
    names.push(.../^import (\w+) from/.exec(line)?.slice(1) ?? [])
    return false
  })
  return names.reduce((list, name) => list.replace(new RegExp(`\\b${name}(?:, )?`), ''), lines.join('\n')).replace(', ])', '])')
}

const cache = new Map<string, ts.SourceFile | undefined>()

/** Compiles the sources as if the plugins did not exist. */
function compileWithout(deleted: readonly string[]): string[] {
  const isDeleted = (file: string) => deleted.some(name => file.startsWith(`${folder}/${name}/`))
  const host = ts.createCompilerHost(config.options)
  const { fileExists, readFile, getSourceFile, directoryExists } = host
  host.fileExists = file => !isDeleted(file) && fileExists.call(host, file)
  host.directoryExists = path => !isDeleted(`${path}/`) && directoryExists!.call(host, path)
  host.readFile = file => LISTS.includes(file) ? without(readFileSync(file, 'utf8'), deleted) : readFile.call(host, file)
  host.getSourceFile = (file, ...rest) => {
    if (LISTS.includes(file)) return ts.createSourceFile(file, host.readFile(file)!, ...rest as [ts.ScriptTarget])
    if (!cache.has(file)) cache.set(file, getSourceFile.call(host, file, ...rest))
    return cache.get(file)
  }
  const program = ts.createProgram(sources.filter(file => !isDeleted(file)), config.options, host)
  return program.getSourceFiles()
    .filter(({ fileName }) => fileName.startsWith(`${root}src/`))
    .flatMap(file => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(({ file, messageText }) => `${relative(root, file!.fileName)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
    // Only the compiler of Vue knows these files.
    .filter(message => !message.includes('.vue\' or its corresponding type declarations'))
}

describe('without plugins', () => {
  it('the lists have one line for each of them', () => {
    const text = LISTS.map(file => readFileSync(file, 'utf8')).join('\n')
    expect(PLUGINS.filter(name => !text.includes(`'./${name}/`))).toEqual([])
    expect(LISTS.map(file => without(readFileSync(file, 'utf8'), PLUGINS)).join('\n')).not.toMatch(/from '\.\/[\w-]+\//)
  })

  it('the sources compile as they are', () => {
    expect(compileWithout([])).toEqual([])
  }, 120_000)

  it('the sources compile without all of them', () => {
    expect(compileWithout(PLUGINS)).toEqual([])
  }, 120_000)

  it.each(isFull ? PLUGINS : [])('the sources compile without %s', (name) => {
    expect(compileWithout([name, ...BUILT_ON[name] ?? []])).toEqual([])
  }, 120_000)
})

it('no file of the server, the client, the admin or the build names one of them', () => {
  const used = ts.sys.readDirectory(join(root, 'src'), ['.ts', '.vue']).filter(file => !file.startsWith(folder))
  const naming = used.filter(file => PLUGINS.some(name => readFileSync(file, 'utf8').includes(`plugins/${name}`)))
  expect(naming.map(file => relative(root, file))).toEqual([])
})

describe('the admin', () => {
  const files = ts.sys.readDirectory(join(root, 'src/runtime/admin'), ['.ts', '.vue'])
  const admins = SLICES.flatMap(({ folder, admin }) => admin?.views || admin?.parts ? [{ folder, ...admin }] : [])

  it('names no view, tab or feature of a plugin', () => {
    const names = admins.flatMap(({ views = {}, parts = [] }) => [
      ...Object.entries(views).flatMap(([name, { replaces }]) => [name, replaces ?? name]),
      ...parts.flatMap(part => part.slot === 'overview' ? [part.tool] : part.features),
    ])
    expect(names).toEqual(expect.arrayContaining(['tokens', 'auditLog', 'history', 'exportFormats', 'import', 'files', 'activity']))
    // Statements import, too.
    const named = new RegExp(`\\b(?:${names.filter(name => name !== 'import').join('|')})\\b`)
    const naming = files.filter(file => named.test(readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
    expect(naming).toEqual([])
  })

  it('has no text that only a plugin uses', () => {
    const keysOf = (file: string) => [...readFileSync(file, 'utf8').matchAll(/^ {2}'([^']+)':/gm)].map(([, key]) => key!)
    const generic = keysOf(join(root, 'src/runtime/admin/model/messages.ts'))
    const ofPlugins = admins.map(({ folder: name }) => join(folder, name, 'admin/messages.ts')).flatMap(keysOf)
    expect(generic.length).toBeGreaterThan(100)
    expect(ofPlugins.length).toBeGreaterThan(50)
    expect(ofPlugins.filter((key, index) => generic.includes(key) || ofPlugins.indexOf(key) !== index)).toEqual([])
  })

  it('has a file for each component of a plugin', () => {
    const components = admins.flatMap(({ folder: name, views = {}, parts = [] }) =>
      [...Object.values(views), ...parts].map(({ component }) => join(folder, name, 'admin', component)))
    expect(components.length).toBeGreaterThan(7)
    expect(components.filter(file => !ts.sys.fileExists(file))).toEqual([])
  })
})
