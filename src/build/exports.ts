/** Looks for the exports that module imports name, without running the files: a bundler would blame a generated module. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createJiti } from 'jiti'
import { dirname, extname, isAbsolute, relative, resolve } from 'pathe'
import type { ModuleImport } from './module-import'
import type { Problem } from './problem'
import { findClosest } from '../runtime/shared/suggest'

/** A module import with the place that names it: `posts.authorization`. */
export interface NamedImport {
  readonly where: string
  readonly import: ModuleImport
}

/** How many exports a message lists when none is close to the name. */
const MAX_LISTED = 10

/** Every module import whose file does not export the name. What cannot be told without running the file is left to the bundler. */
export function findMissingExports(imports: readonly NamedImport[], rootDir: string): Problem[] {
  const files = new Map<string, FileExports>()
  return imports.flatMap(({ where, import: { path, name } }): Problem[] => {
    if (!isAbsolute(path) || !isFile(path)) return []
    const exported = files.get(path) ?? new FileExports(path)
    files.set(path, exported)
    if (exported.has(name)) return []
    return [
      {
        where,
        what: `names ${name === 'default' ? 'the default export' : `the export \`${name}\``} of \`${toDisplayPath(path, rootDir)}\`, which has none of that name`,
        instead: suggest(name, exported.names()),
        anchor: 'module-imports',
      },
    ]
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

/** What a file exports, read when it is first asked for. */
class FileExports {
  readonly #path: string
  readonly #text: string
  #found: Found | undefined

  constructor(path: string) {
    this.#path = path
    this.#text = readFileSync(path, 'utf8')
  }

  /** Whether the file may have the export. */
  has(name: string): boolean {
    // Most exports are written out: a file is only taken apart where this one is not.
    const plain
      = name === 'default'
        ? /\bexport\s+default\b/
        : new RegExp(`\\bexport\\s+(?:async\\s+)?(?:const|let|var|class|function)[\\s*]+${name.replaceAll('$', '\\$')}(?![\\w$])`)
    if (plain.test(this.#text)) return true
    this.#found ??= readExports(this.#path, this.#text, new Set())
    return !this.#found.complete || this.#found.names.has(name)
  }

  names(): string[] {
    this.#found ??= readExports(this.#path, this.#text, new Set())
    return [...this.#found.names].sort()
  }
}

interface Found {
  readonly names: Set<string>
  /** Whether these are all of them. */
  readonly complete: boolean
}

const UNKNOWN: Found = { names: new Set(), complete: false }

/** In the CommonJS that the file is compiled to, each export is an assignment. */
function readExports(path: string, source: string, seen: Set<string>): Found {
  seen.add(path)
  if (!/\bexport\b/.test(source)) return UNKNOWN
  const code = compile(path, source)
  if (code === undefined) return UNKNOWN
  const names = new Set([
    ...[...code.matchAll(/(?<![\w$.])exports\.([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=(?!=)/gu)].map(([, name]) => name!),
    ...[...code.matchAll(/Object\.defineProperty\(exports, "([^"]+)"/g)].map(([, name]) => name!),
  ])
  names.delete('__esModule')
  let complete = true
  // `export * from './other'`: all of the other's, but for its default.
  for (const [, local] of code.matchAll(/Object\.keys\((_[\w$]+)\)\.forEach\(function \(key\)/g)) {
    const [, specifier] = new RegExp(`\\b${local!.replaceAll('$', '\\$')} = [^;]*?jitiImport\\("([^"]+)"\\)`).exec(code) ?? []
    const other = specifier === undefined ? undefined : findFile(resolve(dirname(path), specifier), specifier)
    if (other !== undefined && seen.has(other)) continue
    const found = other === undefined ? UNKNOWN : readExports(other, readFileSync(other, 'utf8'), seen)
    for (const name of found.names) if (name !== 'default') names.add(name)
    complete &&= found.complete
  }
  return { names, complete }
}

/** `undefined` where there is a mistake in the file itself: the bundler says what and where. */
function compile(path: string, source: string): string | undefined {
  const end = extname(path)
  const code = createJiti(import.meta.url).transform({
    source,
    filename: path,
    ts: end.endsWith('ts') || end === '.tsx',
    jsx: end.endsWith('x'),
    async: true,
  })
  return code.includes('exports.__JITI_ERROR__') ? undefined : code
}

const EXTENSIONS = ['', '.ts', '.mts', '.cts', '.mjs', '.js', '.cjs', '.tsx', '.jsx', '/index.ts', '/index.mjs', '/index.js']

/** The file that a relative specifier leads to; a package or an alias is left to the bundler. */
function findFile(path: string, specifier: string): string | undefined {
  if (!/^\.{1,2}\//.test(specifier)) return undefined
  return [path, path.replace(/\.(m?)js$/, '.$1ts')].flatMap(base => EXTENSIONS.map(ending => base + ending)).find(isFile)
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()
