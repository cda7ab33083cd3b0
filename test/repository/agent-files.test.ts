/** The files for coding agents: generated from the docs, complete, and readable as Markdown. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { generateAgentFiles } from '../../build.docs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md'))
const files = generateAgentFiles(root)
const skill = files['skills/nuxt-auto-api/SKILL.md']

describe('llms.txt', () => {
  const entries = [...files['llms.txt'].matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm)].map(([, title, path, summary]) => ({
    title,
    path: path!,
    summary: summary!,
  }))

  it('lists every page once, beginning with the guide', () => {
    expect(entries[0]!.path).toBe('docs/getting-started.md')
    expect(entries.map(({ path }) => path).toSorted()).toEqual(pages.map(name => `docs/${name}`).toSorted())
  })

  it.each(entries)('describes $path in one sentence without links', ({ path, summary }) => {
    expect(existsSync(join(root, path))).toBe(true)
    expect(summary).toMatch(/^[^[\]]{10,160}\.$/)
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
