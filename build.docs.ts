/** Generates the files for coding agents from the docs: `llms.txt`, and a skill that explains how to use the package. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSnippets } from './src/cli/snippets.ts'

interface Page {
  readonly file: string
  readonly title: string
  /** The first sentence. */
  readonly summary: string
  readonly text: string
}

const GUIDE = 'getting-started.md'
const DESCRIPTION = 'Authorized REST APIs and typed Vue composables for Drizzle tables in Nuxt, with the package nuxt-auto-api.'

export interface AgentFiles {
  readonly 'llms.txt': string
  readonly 'skills/nuxt-auto-api/SKILL.md': string
}

/** @param root the folder of the repository */
export function generateAgentFiles(root: string): AgentFiles {
  const pages = readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md')).sort().map(file => readPage(root, file))
  const ordered = [...pages.filter(({ file }) => file === GUIDE), ...pages.filter(({ file }) => file !== GUIDE)]
  return { 'llms.txt': toIndex(ordered), 'skills/nuxt-auto-api/SKILL.md': toSkill(ordered) }
}

export function writeAgentFiles(root: string): void {
  for (const [path, text] of Object.entries(generateAgentFiles(root))) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

function readPage(root: string, file: string): Page {
  const text = readFileSync(join(root, 'docs', file), 'utf8')
  const [, title = file] = /^# (.+)$/m.exec(text) ?? []
  const [paragraph = ''] = text.replace(/^# .+\n+/, '').split('\n\n')
  const plain = paragraph.replace(/\s+/g, ' ').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
  return { file, title, summary: /^.+?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain, text }
}

const toIndex = (pages: readonly Page[]) => `# nuxt-auto-api

> ${DESCRIPTION}

## Docs

${pages.map(({ file, title, summary }) => `- [${title}](docs/${file}): ${summary}`).join('\n')}
`

function toSkill(pages: readonly Page[]): string {
  const files = findSnippets(pages.find(({ file }) => file === GUIDE)!.text).filter(({ source }) => source !== undefined)
  return `---
name: nuxt-auto-api
description: ${DESCRIPTION} Use it to add or change resources, permissions, row filters, composables and custom endpoints.
---

# nuxt-auto-api

Read the page of the task before you write code. The pages are in \`node_modules/nuxt-auto-api/docs\`:

${pages.map(({ file, title, summary }) => `- \`${file}\` (${title}): ${summary}`).join('\n')}

## Rules

- An operation without a permission is refused. Never add \`true\` to make a request work: ask who may do it.
- Row filters (\`listFilter\`) belong to the resource, not to a request: they apply to every route.
- The build reads resource files without running them. Write \`hiddenFields\`, \`protectedFields\`, \`disabled\` and \`metadata\` as literals.
- After a change, run \`npx nuxt-auto-api check\`. It reports mistakes and every change of the access matrix.

## Files of a complete app

${files.map(({ source, language, code }) => `\`${source!}\`:\n\n\`\`\`${language}\n${code}\`\`\``).join('\n\n')}
`
}
