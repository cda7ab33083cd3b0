/**
 * Finds module imports whose file does not have the export, without running the file. The bundler would also report the error, but its
 * message would name only a generated module.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createJiti } from 'jiti'
import { dirname, extname, isAbsolute, relative, resolve } from 'pathe'
import type { ModuleImport } from './module-import'
import type { Problem } from './problem'
import { findClosest } from '../runtime/shared/suggest'

/** A module import and the path of the option that holds it: `posts.authorization`. */
export interface OptionImport {
  readonly where: string
  readonly import: ModuleImport
}

/** Maximum number of exports in a message that suggests no name. */
const MAX_LISTED = 10

/** Reports each module import whose file does not export the name. If this function cannot read a file, the bundler checks it. */
export function findMissingExports(imports: readonly OptionImport[], rootDir: string): Problem[] {
  const files = new Map<string, FileExports>()
  return imports.flatMap(({ where, import: { path, name } }): Problem[] => {
    if (!isAbsolute(path) || !isFile(path)) return []
    const exported = files.get(path) ?? new FileExports(path)
    files.set(path, exported)
    if (exported.has(name)) return []
    const file = `\`${toDisplayPath(path, rootDir)}\``
    const what = name === 'default' ? `names ${file}, which has no default export` : `names \`${name}\`, which ${file} does not export`
    return [{ where, what, instead: suggest(name, exported.names()), anchor: 'module-imports' }]
  })
}

function suggest(name: string, names: readonly string[]): string {
  const closest = findClosest(name, names)
  if (closest !== undefined) return `Did you mean \`${closest}\`?`
  if (names.length === 0) return 'Export it.'
  const listed = names.slice(0, MAX_LISTED).map(known => `\`${known}\``).join(', ')
  return `The file exports ${listed}${names.length > MAX_LISTED ? ', …' : ''}.`
}

function toDisplayPath(path: string, rootDir: string): string {
  const short = relative(rootDir, path)
  return short.startsWith('..') ? path : short
}

/** Reads the exports of a file. It searches the text for an `export` of the name first, and compiles the file only if there is none. */
class FileExports {
  readonly #path: string
  readonly #text: string
  #exports: Exports | undefined

  constructor(path: string) {
    this.#path = path
    this.#text = readFileSync(path, 'utf8')
  }

  /** Returns `false` only if the file certainly does not have the export. */
  has(name: string): boolean {
    const declaration
      = name === 'default'
        ? /\bexport\s+default\b/
        : new RegExp(`\\bexport\\s+(?:async\\s+)?(?:const|let|var|class|function)[\\s*]+${name.replaceAll('$', '\\$')}(?![\\w$])`)
    if (declaration.test(this.#text)) return true
    const { names, complete } = this.#read()
    return !complete || names.has(name)
  }

  names(): string[] {
    return [...this.#read().names].sort()
  }

  #read(): Exports {
    return this.#exports ??= readExports(this.#path, this.#text, new Set())
  }
}

interface Exports {
  readonly names: Set<string>
  /** `true` if `names` contains every export of the file. */
  readonly complete: boolean
}

const UNKNOWN_EXPORTS: Exports = { names: new Set(), complete: false }

/** Compiles the file to CommonJS, where each export is an assignment, and collects the names of the assignments. */
function readExports(path: string, source: string, seen: Set<string>): Exports {
  seen.add(path)
  if (!/\bexport\b/.test(source)) return UNKNOWN_EXPORTS
  const code = compile(path, source)
  if (code === undefined) return UNKNOWN_EXPORTS
  const names = new Set([
    ...[...code.matchAll(/(?<![\w$.])exports\.([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=(?!=)/gu)].map(([, name]) => name!),
    ...[...code.matchAll(/Object\.defineProperty\(exports, "([^"]+)"/g)].map(([, name]) => name!),
  ])
  names.delete('__esModule')
  let complete = true
  // `export * from './other'` exports all names of the other file except `default`.
  for (const [, local] of code.matchAll(/Object\.keys\((_[\w$]+)\)\.forEach\(function \(key\)/g)) {
    const [, specifier] = new RegExp(`\\b${local!.replaceAll('$', '\\$')} = [^;]*?jitiImport\\("([^"]+)"\\)`).exec(code) ?? []
    const other = specifier === undefined ? undefined : findFile(resolve(dirname(path), specifier), specifier)
    if (other !== undefined && seen.has(other)) continue
    const found = other === undefined ? UNKNOWN_EXPORTS : readExports(other, readFileSync(other, 'utf8'), seen)
    for (const name of found.names) if (name !== 'default') names.add(name)
    complete &&= found.complete
  }
  return { names, complete }
}

/** Compiles a file to CommonJS. It returns `undefined` if the file has a syntax error, because the bundler reports the error. */
function compile(path: string, source: string): string | undefined {
  const extension = extname(path)
  const code = createJiti(import.meta.url).transform({
    source,
    filename: path,
    ts: extension.endsWith('ts') || extension === '.tsx',
    jsx: extension.endsWith('x'),
    async: true,
  })
  return code.includes('exports.__JITI_ERROR__') ? undefined : code
}

const EXTENSIONS = ['', '.ts', '.mts', '.cts', '.mjs', '.js', '.cjs', '.tsx', '.jsx', '/index.ts', '/index.mjs', '/index.js']

/** Finds the file of a relative specifier. It returns `undefined` for a package or an alias. */
function findFile(path: string, specifier: string): string | undefined {
  if (!/^\.{1,2}\//.test(specifier)) return undefined
  return [path, path.replace(/\.(m?)js$/, '.$1ts')].flatMap(base => EXTENSIONS.map(extension => base + extension)).find(isFile)
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()
