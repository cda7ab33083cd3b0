/** Copies the repository to another folder, where commands can change files and installed packages. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from './once.ts'

/** Generated folders, which a clone does not have. */
export const LEFT_BY_COMMANDS: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', '.nuxt', '.output', '.data'])

/** Copies what a fresh clone has. */
export function copySources(folder: string): void {
  cpSync(root, folder, { recursive: true, filter: source => !LEFT_BY_COMMANDS.has(basename(source)) })
}

/** Links the installed packages on the same disk, because copying every file would take most of the time of a test. */
export function copyPackages(folder: string, from = root): void {
  const packages = join(from, 'node_modules')
  if (spawnSync('cp', ['-al', packages, folder]).status !== 0)
    cpSync(packages, join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true })
}

/** Makes a folder for an app. It is as deep as a fixture, so packages and relative imports resolve to the same files. Git ignores it. */
export function createAppFolder(): string {
  const parent = join(root, 'test/.data')
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, 'app-'))
}
