/** The files for coding agents: generated from the docs, complete, and readable as Markdown. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { generateAgentFiles, listPages } from '../../build.docs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = listPages(root)
const files = generateAgentFiles(root)
const skill = files['skills/nuxt-auto-api/SKILL.md']

describe('llms.txt', () => {
  const entries = [...files['llms.txt'].matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm)].map(([, title, path, summary]) => ({
    title,
    path: path!,
    summary: summary!,
  }))

  it('lists every page once, beginning with the guide', () => {
    expect(entries[0]!.path).toBe('docs/1.start/1.getting-started.md')
    expect(entries.map(({ path }) => path)).toEqual(pages.map(name => `docs/${name}`))
  })

  it.each(entries)('describes $path in one sentence without links', ({ path, summary }) => {
    expect(existsSync(join(root, path))).toBe(true)
    expect(summary).toMatch(/^[^[\]]{10,160}\.$/)
  })
})

describe('docs/errors.md', () => {
  const page = files['docs/errors.md']

  it('has the section of each code at the address that errors name', () => {
    expect(page.match(/^### [A-Z_]+$/gm)!.length).toBeGreaterThan(30)
  })

  it('links the other pages', () => {
    const links = [...page.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) => path!)
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter(path => !existsSync(join(root, 'docs', path)))).toEqual([])
  })
})

describe('the skill', () => {
  it('begins with its name and description', () => {
    expect(skill).toMatch(/^---\nname: nuxt-auto-api\ndescription: [^\n]{50,}\n---\n/)
  })

  it('names every page, and contains the files of the guide', () => {
    for (const page of pages) expect(skill).toContain(`\`${page}\``)
    expect(skill).toContain('`server/resources/posts.ts`:\n\n```ts\nimport { posts }')
  })
})
