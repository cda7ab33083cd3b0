/** The page about OWASP ASVS: it leaves out no requirement, its tests exist, and its inventories are those of the code. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ESLint } from 'eslint'
import { describe, expect, it } from 'vitest'
import { root } from '../support/once'
import { REQUIREMENTS } from './asvs-requirements'

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = read('docs/5.concepts/5.asvs.md')

interface Row { readonly chapter: string, readonly number: string, readonly level: number, readonly state: string }

/** The parts of the page, each with the number of its chapter. */
const chapters = [...page.matchAll(/^## V(\d+) .+\n([\s\S]+?)(?=^## |(?![\s\S]))/gm)].map(([, chapter, text]) => ({ chapter: chapter!, text: text! }))
const rows = chapters.flatMap(({ chapter, text }) => [...text.matchAll(/^\| (\d+\.\d+\.\d+) \| [^|]+ \| (\d) \| (.+) \|$/gm)]
  .map(([, number, level, state]): Row => ({ chapter, number: number!, level: Number(level), state: state! })))
/** `3 do not apply: 5.2.3, 5.2.5, 5.3.3.` */
const excluded = chapters.map(({ chapter, text }) => {
  const [, count, numbers] = /(\d+)\s(?:do|does)\snot\sapply:\s([\d.,\s]+)\.$/m.exec(text) ?? []
  return { chapter, appliesWhole: text.includes('\nAll of the chapter applies.\n'), count: Number(count ?? 0), numbers: numbers?.split(/,\s/) ?? [] }
})

const testsOf = ({ state }: Row) => [...state.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!)
/** The files in the first column of the table below a heading. */
const listedBelow = (heading: string) => {
  const [, section] = new RegExp(`^### ${heading}\\n([^]+?)(?=^##)`, 'm').exec(page)!
  return [...section!.matchAll(/^\| `(src\/[^`]+)`/gm)].map(([, file]) => file!)
}

describe('the requirements of ASVS', () => {
  it('are those of nine chapters', () => {
    expect(chapters.map(({ chapter }) => chapter)).toEqual(['1', '2', '4', '5', '8', '11', '14', '15', '16'])
    expect(REQUIREMENTS.size).toBe(160)
  })

  it('are each in one row, or in the list of those that do not apply', () => {
    const numbers = [...rows.map(({ number }) => number), ...excluded.flatMap(({ numbers }) => numbers)]
    expect(numbers.toSorted()).toEqual([...REQUIREMENTS.keys()].sort())
  })

  it('are in their chapters, with their levels', () => {
    const places = [...rows, ...excluded.flatMap(({ chapter, numbers }) => numbers.map(number => ({ chapter, number })))]
    expect(places.filter(({ chapter, number }) => number.split('.')[0] !== chapter)).toEqual([])
    expect(rows.filter(({ number, level }) => level !== REQUIREMENTS.get(number))).toEqual([])
  })

  it('are in the order of their numbers', () => {
    const inOrder = (numbers: readonly string[]) => numbers.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    for (const { chapter } of chapters) {
      const numbers = rows.filter(row => row.chapter === chapter).map(({ number }) => number)
      expect(numbers).toEqual(inOrder(numbers))
    }
  })

  it.each(excluded)('that do not apply are counted: V$chapter', ({ count, numbers, appliesWhole }) => {
    expect(count).toBe(numbers.length)
    expect(appliesWhole).toBe(count === 0)
  })

  it('are met, left to others, or open, with a reason', () => {
    expect(rows.filter(({ state }) => !/^(?:met|not ours|open): \S/.test(state))).toEqual([])
  })

  it('have test files that exist', () => {
    expect(rows.filter(row => row.state.startsWith('met: ') && testsOf(row).length === 0)).toEqual([])
    expect(rows.flatMap(testsOf).filter(file => !file.endsWith('.test.ts') || !existsSync(join(root, file)))).toEqual([])
  })
})

const sources = globSync('src/runtime/**/*.{ts,vue}', { cwd: root }).map(file => file.replaceAll('\\', '/')).sort()
const matching = (pattern: RegExp, files: readonly string[] = sources) => files.filter(file => pattern.test(read(file)))

describe('the inventory of cryptography', () => {
  /** UUIDs are ids, and no secrets. */
  const CRYPTO = /crypto\.subtle|getRandomValues|from 'ohash'|from 'aws4fetch'|import\('(?:aws4fetch|node:crypto)'\)|\brandomBytes\(|\bcreateHash\(|\bcreateHmac\(|\bcreate(?:Dec|C)ipheriv\(/
  const found = matching(CRYPTO)

  it('lists every file that encrypts, signs, hashes or makes random bytes', () => {
    expect(listedBelow('Inventory of cryptography').toSorted()).toEqual(found)
  })

  it('has approved algorithms only', () => {
    const NAMES = /'((?:aes|des|chacha|sha|md|rc|rsa|pbkdf)-?\d[\w-]*|aes-[a-z]+|rsa-[\w-]+|des|hmac|hkdf|ecdsa|ecdh|ed25519)'/gi
    const names = found.flatMap(file => [...read(file).matchAll(NAMES)].map(([, name]) => name!.toUpperCase()))
    expect([...new Set(names)].sort()).toEqual(['AES-256-GCM', 'AES-GCM', 'HKDF', 'HMAC', 'SHA-256', 'SHA256'])
  })
})

describe('dangerous functions', () => {
  const onServer = sources.filter(file => /^src\/runtime\/(?:server|shared|plugins)\//.test(file) && !/\/plugins\/[^/]+\/(?:app|admin)\//.test(file))

  it('are listed: files of the server that read files, send requests or deserialize', () => {
    const DANGEROUS = /'node:(?:v8|fs|dns|https?|net|tls|dgram|worker_threads)(?:\/promises)?'|(?<![.\w$])fetch\(/
    expect(listedBelow('Dangerous functions').toSorted()).toEqual(matching(DANGEROUS, onServer))
  })

  it('run no text as code, start no program, and write no HTML', () => {
    expect(matching(/(?<![.\w])eval\(|new Function\(|node:vm'|node:child_process|\bv-html\b|innerHTML|insertAdjacentHTML|document\.write/)).toEqual([])
  })
})

it('a regular expression that takes exponential time fails the lint of the sources', { timeout: 60_000 }, async () => {
  const RULE = 'regexp/no-super-linear-backtracking'
  const [result] = await new ESLint({ cwd: root })
    .lintText('export const slow = /^(?:a+)+$/\n', { filePath: join(root, 'src/runtime/shared/slow.ts') })
  expect(result!.messages).toContainEqual(expect.objectContaining({ ruleId: RULE, severity: 2 }))
  expect(matching(/eslint-disable.*no-super-linear/)).toEqual([])
})
