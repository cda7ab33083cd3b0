/** `nuxt-auto-api init --template`: copies a complete app of `docs/starters` into an empty folder. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'pathe'
import { didYouMean } from '../runtime/shared/suggest'
import { CommandError } from './app'
import type { Init } from './init'

/** The folders of each template. A file of a later folder replaces that of the same name. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  sqlite: ['common', 'sqlite'],
  postgres: ['common', 'postgres'],
  cloudflare: ['common', 'sqlite', 'cloudflare'],
}

export interface TemplateOptions {
  readonly template: string
  /** The folder of the new app. It is created if it does not exist. */
  readonly cwd: string
  /** The folder in which the command runs, for the commands that remain. */
  readonly from: string
  /** The folder of the docs. It contains the templates. */
  readonly docs: string
  /** `true` writes nothing. */
  readonly dryRun?: boolean
}

/** @throws CommandError if there is no such template, or the folder contains files of it */
export function initTemplate({ template, cwd, from, docs, dryRun = false }: TemplateOptions): Init {
  const files = readTemplate(template, join(docs, 'starters'))
  const existing = [...files.keys()].filter(path => existsSync(join(cwd, path)))
  if (existing.length > 0)
    throw new CommandError(`${cwd} contains files of the template, so nothing was written: ${toNames(existing)}. Name an empty folder.`)
  const { version } = JSON.parse(readFileSync(join(docs, '../package.json'), 'utf8')) as { version: string }
  for (const [path, file] of files) {
    if (dryRun) continue
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), path === 'package.json' ? toManifest(readFileSync(file, 'utf8'), cwd, version) : readText(file))
  }
  const folder = relative(from, cwd)
  return {
    changes: [...files.keys()].map(path => `created  ${path}`),
    commands: [...folder === '' ? [] : [`cd ${/^[\w./-]+$/.test(folder) ? folder : `'${folder}'`}`], 'npm install', 'npm run dev'],
  }
}

/** Returns the files of the app, each with the file that it is copied from. */
function readTemplate(template: string, starters: string): Map<string, string> {
  const names = Object.keys(TEMPLATES)
  if (!Object.hasOwn(TEMPLATES, template))
    throw new CommandError(`There is no template \`${template}\`. The templates are: ${toNames(names)}.${didYouMean(template, names)}`)
  const files = new Map(TEMPLATES[template]!.flatMap(name => listFiles(join(starters, name))))
  return new Map([...files].sort(([a], [b]) => a < b ? -1 : 1))
}

function listFiles(folder: string): [path: string, file: string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => statSync(join(folder, name)).isFile())
    // npm does not pack `.gitignore`, so that names with a dot begin with `_` here.
    .map(name => [name.replaceAll('\\', '/').replace(/^_/, '.'), join(folder, name)])
}

/** Each secret of the file `.env` is another one. */
const readText = (file: string) => readFileSync(file, 'utf8').replaceAll('{{secret}}', () => randomBytes(32).toString('base64url'))

/** npm accepts only small letters, digits and a few signs in the name of a package. */
function toManifest(text: string, cwd: string, version: string): string {
  const manifest = JSON.parse(text) as { name: string, dependencies: Record<string, string> }
  manifest.name = basename(cwd).toLowerCase().replace(/[^a-z0-9-]+/g, '-').replace(/^-+|-+$/g, '') || manifest.name
  manifest.dependencies['nuxt-auto-api'] = `^${version}`
  return `${JSON.stringify(manifest, null, 2)}\n`
}

const toNames = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')
