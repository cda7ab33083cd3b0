/** Finds the resource files of the app and of its layers, reads their registrations, and reads them again in development. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isIgnored, useLogger } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import { basename, extname, join, relative, resolve } from 'pathe'
import { toMessage, type Problem } from './problem'
import { readResourceFile, type ReadResource, type ResourceFile } from './resource-file'
import { watchFolders } from './watch-folders'

/** The folder of the resource files, relative to the folder of the server. */
export const DEFAULT_RESOURCES_DIR = 'resources'

export interface FileResource extends ResourceFile {
  readonly registration: Readonly<Record<string, unknown>>
  readonly hasPermissions: boolean
}

export interface FileResources {
  readonly resources: readonly FileResource[]
  readonly problems: readonly Problem[]
}

/** The part of Nuxt that names the folders and the ignored files. */
type NuxtFolders = { readonly options: Pick<Nuxt['options'], '_layers' | 'rootDir'> }

const CODE = /\.(?:[cm]?ts|[cm]?js)$/

/**
 * Reads the resource files of all layers. A file of the app replaces the file of the same name in a layer.
 * @param option the option `resourcesDir`
 */
export function collectResourceFiles(option: unknown, nuxt: NuxtFolders): FileResources {
  if (option === false) return { resources: [], problems: [] }
  if (typeof option !== 'string' || option === '') {
    const instead = 'Use a folder relative to the folder of the server, such as `\'resources\'`, or `false`.'
    return { resources: [], problems: [{ where: 'autoApi.resourcesDir', what: 'is not a folder', instead }] }
  }
  const read: (ResourceFile & ReadResource)[] = []
  const problems: Problem[] = []
  for (const folder of foldersOf(option, nuxt)) {
    const { files, subfolders } = listFolder(folder, nuxt)
    problems.push(...subfolders.map(path => ({
      where: path, what: 'is a folder', instead: 'Move its files one folder up: the name of a file is the name of its resource.',
    })))
    const names = new Set(read.map(({ name }) => name))
    for (const file of files)
      if (!names.has(file.name)) read.push({ ...file, ...readResourceFile(file, readFileSync(file.path, 'utf8')) })
  }
  return {
    resources: read.flatMap(({ registration, ...resource }) => registration ? { ...resource, registration } : []),
    problems: [...problems, ...read.flatMap(resource => resource.problems)],
  }
}

/** The folders of the app and of its layers, the app first. */
function foldersOf(option: string, { options: { _layers } }: NuxtFolders): string[] {
  return [...new Set(_layers.map(({ cwd, config }) => resolve(cwd, config.serverDir || join(config.srcDir ?? cwd, 'server'), option)))]
}

function listFolder(folder: string, nuxt: NuxtFolders): { files: ResourceFile[], subfolders: string[] } {
  if (!existsSync(folder)) return { files: [], subfolders: [] }
  const entries = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !isIgnored(join(folder, name), undefined, nuxt as Nuxt))
    .sort((a, b) => a.name < b.name ? -1 : 1)
  const toDisplayPath = (name: string) => {
    const short = relative(nuxt.options.rootDir, join(folder, name))
    return short.startsWith('..') ? join(folder, name) : short
  }
  return {
    files: entries.filter(entry => !entry.isDirectory() && CODE.test(entry.name)).map(({ name }) => ({
      name: basename(name, extname(name)), path: join(folder, name), displayPath: toDisplayPath(name),
    })),
    subfolders: entries.filter(entry => entry.isDirectory()).map(({ name }) => toDisplayPath(name)),
  }
}

/**
 * Restarts Nuxt in development when the registrations in the resource files change: a new file, a new key, other hidden fields. Nitro
 * itself reloads the code of rules and hooks. While a file has an error, the last valid registrations stay, and the error is logged.
 */
export function watchResourceFiles(option: unknown, nuxt: Nuxt, registered: FileResources): void {
  if (typeof option !== 'string' || option === '') return
  const logger = useLogger('auto-api')
  let current = JSON.stringify(registered)
  watchFolders(nuxt, foldersOf(option, nuxt), () => {
    const now = collectResourceFiles(option, nuxt)
    const text = JSON.stringify(now)
    if (text === current) return
    current = text
    for (const problem of now.problems) logger.error(toMessage(problem))
    if (now.problems.length === 0) void nuxt.callHook('restart')
  })
}
