/** Checks that missing exports in registrations and plugins are reported at build time, and existing ones are not. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMissingExports } from '../../../src/build/exports'
import { toMessage } from '../../../src/build/problem'

let folder: string

const FILES = {
  'all.ts': `
    import { given } from './other'
    import type { T } from './types'
    export const a = 1, b = { c: 2 }
    export const { d, e: [f], ...g } = given
    export function h() {}
    export async function* i() {}
    export class J<T> {}
    export enum K { A }
    export abstract class L {}
    export default defineIt({} as T)
    export { given as m, type T as N }
    export { q, r as s } from './other'
    export * as ns from './other'
    export * from './other'
    export type U = string
    declare function defineIt(x: unknown): unknown
    let $o; export { $o }
  `,
  'other/index.ts': 'export const given = [{}], q = 1, r = 2\nexport default 3\nexport * from \'../all\'\n',
  'auth.ts': 'export const postsAuth = {}\nexport const tagsAuth = {}\n',
  'open.ts': 'export * from \'somewhere\'\nexport const own = 1\n',
  'plain.cjs': 'module.exports = { anything: 1 }\n',
  'broken.ts': 'export const = 1\n',
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'exports-'))
  mkdirSync(join(folder, 'other'))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const messagesFor = (file: string, name: string, where = 'posts.authorization') =>
  findMissingExports([{ where, import: { __moduleImport: true, path: join(folder, file), name } }], folder).map(toMessage)

describe('a named export', () => {
  it.each(['a', 'b', 'd', 'f', 'g', 'h', 'i', 'J', 'K', 'L', 'default', 'm', 'q', 's', 'ns', 'given', 'r', '$o'])(
    'is found in every form of `export`: %s',
    (name) => {
      expect(messagesFor('all.ts', name)).toEqual([])
    },
  )

  it.each(['c', 'e', 'N', 'T', 'U', 'defineIt', 'toString'])(
    'is missing if the file only uses the name or exports it as a type: %s',
    (name) => {
      expect(messagesFor('all.ts', name)).toHaveLength(1)
    },
  )

  it('is reported with the registration, the file and a suggestion if it is missing', () => {
    expect(messagesFor('auth.ts', 'postAuth')).toEqual([
      '`posts.authorization` names `postAuth`, which `auth.ts` does not export. Did you mean `postsAuth`? → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#module-imports',
    ])
    expect(messagesFor('auth.ts', 'default')).toEqual([
      expect.stringContaining('names `auth.ts`, which has no default export. The file exports `postsAuth`, `tagsAuth`.'),
    ])
  })

  it.each([
    ['open.ts', 'anything'],
    ['plain.cjs', 'named'],
    ['broken.ts', 'anything'],
    ['nowhere.ts', 'anything'],
  ])('is left to the bundler if the exports of the file cannot be read: %s', (file, name) => {
    expect(messagesFor(file, name)).toEqual([])
  })
})
