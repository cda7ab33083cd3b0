/** The documentation shows code that exists, and links that lead somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)].filter(name => name.endsWith('.md'))

/** Languages that need no file behind them: they are typed or received. */
const SPOKEN = new Set(['sh', 'json', 'http', 'text', 'diff'])

/** Pages whose code is an app's before and after, which no file here can hold. */
const WITHOUT_SOURCES = new Set(['docs/upgrading.md'])

interface Snippet { readonly title: string, readonly language: string, readonly source?: string, readonly code: string }

const snippets = pages.filter(page => !WITHOUT_SOURCES.has(page)).flatMap(page => findSnippets(read(page)).map(snippet => ({ page, ...snippet })))
const links = pages.flatMap(page => [...new Set([...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target]) => target!))].map(link => ({ page, link })))

describe('the documentation', () => {
  it.each(snippets.filter(({ language }) => !SPOKEN.has(language)))('shows code as it stands in the repository: $page, $title', ({ language, source, code }) => {
    expect(source, `\`\`\`${language} needs [path]`).toBeDefined()
    const file = normalize(read(source!))
    // `// …` stands for what is left out.
    for (const part of code.split(/^\s*\/\/ …$/m).map(normalize)) expect(file).toContain(part)
  })

  it.each(pages.filter(page => page.startsWith('docs/')))('can be reached from the README: %s', (page) => {
    expect(links).toContainEqual({ page: 'README.md', link: page })
  })

  it.each(links)('links to what is there: $page, $link', ({ page, link }) => {
    const [path, anchor] = link.split('#') as [string, string | undefined]
    const target = path === '' ? page : relative(root, join(root, dirname(page), path))
    expect(existsSync(join(root, target))).toBe(true)
    if (anchor !== undefined) expect(headings(read(target))).toContain(anchor)
  })
})

function findSnippets(markdown: string): Snippet[] {
  return [...markdown.matchAll(/^```(\w*)(?: \[([^\]]+)\])?\n([\s\S]*?)^```$/gm)].map(([, language, source, code]) => ({
    title: `${source ?? language}: ${code!.trim().split('\n', 1)[0]}`, language: language!, code: code!, ...source && { source },
  }))
}

function headings(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)].map(([, text]) => text!.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-'))
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]+?^```$/gm, '')
}

function normalize(code: string): string {
  return code.replace(/\s+/g, ' ').trim()
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
