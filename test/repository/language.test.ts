/** The language of docs, messages and test titles: the terms that people search for, and few words. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { listPages } from '../../build.docs'
import { root } from '../support/once'

/** Words of all pages of the docs, without code blocks. A page that grows makes another one shorter. */
const MAX_WORDS = 46_500

/** Pages whose words are not counted, because they are tables to look something up: no reader reads them from start to end. */
const TABLES: ReadonlySet<string> = new Set([
  // A run of the benchmark writes it: figures.
  'docs/6.project/2.benchmark.md',
  // A row for each requirement of a standard, whose number this project does not choose: names of test files.
  'docs/5.concepts/5.asvs.md',
])

type Kind = 'docs' | 'messages' | 'titles'

interface Rule {
  readonly pattern: RegExp
  readonly write: string
  /** The kinds of text in which the word is right. */
  readonly except?: readonly Kind[]
}

const RULES: Readonly<Record<string, Rule>> = {
  'nobody': {
    pattern: /\bnobody\b/i, write: 'no caller, no user, no request',
    // The access matrix calls a permission `false` so.
    except: ['messages'],
  },
  'somebody': { pattern: /\b(?:somebody|anybody|whoever)\b/i, write: 'another user, another request, a caller that …' },
  'tell': { pattern: /\b(?:tells?|told)\b/i, write: 'return, report, disclose, distinguish' },
  'learn of, know of': { pattern: /\b(?:learns?|knows?|says?) of\b/i, write: 'receive, have, report' },
  'hear': { pattern: /\b(?:is|are) heard\b/i, write: 'has listeners' },
  'hang on': { pattern: /\bhangs? on\b|\bhanging on\b/i, write: 'depend on, dependents' },
  'go along': { pattern: /\b(?:goes?|going|taken?) along\b/i, write: 'cascade' },
  'bring back': { pattern: /\bbr(?:ings?|ought) back\b/i, write: 'restore' },
  'hand over': { pattern: /\bhands? over\b/i, write: 'pass, move' },
  'reveal': { pattern: /\breveals?\b/i, write: 'disclose' },
  'stamp': { pattern: /\bstamps?\b/i, write: 'values that the server sets' },
  'circle': { pattern: /\bcircles?\b/i, write: 'cycle' },
  'visitor': { pattern: /\bvisitors?\b/i, write: 'client, anonymous caller, user' },
  'house, door, street': { pattern: /\b(?:house|door|street)\b/i, write: 'runtime, entry, HTTP adapter' },
  'whose gate': { pattern: /\bwhose gate\b/i, write: '`x` requires `resource`' },
  'which there is not': { pattern: /\bwhich there (?:is|are) not\b|\bthat there (?:is|are) not\b/i, write: 'does not exist, is not configured' },
  'it is no': { pattern: /\b(?:it is|they are) no (?!longer|more|different)\b/i, write: 'it is not a …' },
  'the answer': { pattern: /\bthe answer\b/i, write: 'the response, the result' },
  'left is': { pattern: /\bleft is\b/i, write: 'only … remains' },
}

interface Text { readonly file: string, readonly text: string }

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const pages = listPages(root).map(page => `docs/${page}`)

/** Without blocks of code. */
const toProse = (markdown: string) => markdown.replace(/^```[\s\S]+?^```$/gm, '').replace(/\]\([^)]*\)/g, ']')

const TEXTS: Readonly<Record<Kind, () => readonly Text[]>> = {
  docs: () => ['README.md', ...pages].flatMap(file =>
    toProse(read(file)).replace(/`[^`\n]+`/g, '').split(/\n\n|\n(?=[-|#])/).map(text => ({ file, text }))),
  messages: () => textsOf('src/**/*.ts', node => ts.isStringLiteralLike(node) || isTemplatePart(node) ? node.text : undefined)
    .filter(({ text }) => text.trim().includes(' ')),
  titles: () => textsOf('test/**/*.test.ts', node => ts.isCallExpression(node) && isTest(node.expression) ? titleOf(node) : undefined),
}

const isTemplatePart = (node: ts.Node): node is ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail =>
  ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)

/** `it`, `it.skipIf(…)` and `it.each(…)`. */
function isTest(node: ts.Expression): boolean {
  if (ts.isIdentifier(node)) return ['it', 'test', 'describe'].includes(node.text)
  return (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) && isTest(node.expression)
}

function titleOf({ arguments: [title] }: ts.CallExpression): string | undefined {
  return title && ts.isStringLiteralLike(title) ? title.text : undefined
}

function textsOf(pattern: string, find: (node: ts.Node) => string | undefined): readonly Text[] {
  return globSync(pattern, { cwd: root, exclude: name => name.includes('node_modules') }).flatMap((file) => {
    const content = read(file)
    if (!Object.values(RULES).some(rule => rule.pattern.test(content))) return []
    const found: Text[] = []
    const visit = (node: ts.Node): void => {
      const text = find(node)
      if (text !== undefined) found.push({ file, text })
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile(file, content, ts.ScriptTarget.Latest))
    return found
  })
}

describe.each(Object.entries(TEXTS))('the words of %s', (kind, collect) => {
  const texts = collect()

  it.each(Object.entries(RULES).filter(([, { except = [] }]) => !except.includes(kind as Kind)))('do not contain: %s', (word, { pattern, write }) => {
    const hits = texts.filter(({ text }) => pattern.test(text)).map(({ file, text }) => `${file}: ${text.replace(/\s+/g, ' ').slice(0, 160)}`)
    expect(hits, `Instead of "${word}", write: ${write}.\n${hits.join('\n')}`).toEqual([])
  })
})

it(`has at most ${MAX_WORDS} words in the docs`, () => {
  const counts = pages.filter(page => !TABLES.has(page)).map(page => ({ page, words: toProse(read(page)).match(/[a-z0-9][\w'’.-]*/gi)!.length }))
  const total = counts.reduce((sum, { words }) => sum + words, 0)
  const longest = counts.toSorted((a, b) => b.words - a.words).slice(0, 5).map(({ page, words }) => `${page}: ${words}`)
  expect(total, `The longest pages:\n${longest.join('\n')}`).toBeLessThanOrEqual(MAX_WORDS)
})
