/** Generates files of the package from the docs: `llms.txt`, a skill for coding agents, and the page that errors link. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { findSnippets } from './src/cli/snippets.ts'

export interface Page {
  /** Relative to the folder of the docs, such as `1.start/1.getting-started.md`. */
  readonly file: string
  readonly title: string
  /** The first sentence. */
  readonly summary: string
  readonly text: string
}

const GUIDE = '1.start/1.getting-started.md'
const ERRORS = '3.reference/4.errors.md'
const DESCRIPTION = 'Authorized REST APIs and typed Vue composables for Drizzle tables in Nuxt, with the package nuxt-auto-api.'

export interface AgentFiles {
  readonly 'llms.txt': string
  readonly 'skills/nuxt-auto-api/SKILL.md': string
  /** The page that the `type` of every error names. Its address does not change when the pages of the docs move. */
  readonly 'docs/errors.md': string
}

/** The titles of the folders, in their order. */
const FOLDERS: Readonly<Record<string, string>> = {
  '1.start': 'Start', '2.guides': 'Guides', '3.reference': 'Reference', '4.plugins': 'Plugins', '5.concepts': 'Concepts', '6.project': 'Project',
}

/** Returns `docs/README.md`: every page with its first sentence. It is in the repository; `npm run docs:index` writes it. */
export function generateIndex(root: string): string {
  const pages = listPages(root).map(file => readPage(root, file))
  const sections = Object.entries(FOLDERS).map(([folder, title]) => [
    `## ${title}`, '', '| page | |', '|---|---|',
    ...pages.filter(({ file }) => file.startsWith(`${folder}/`)).map(({ file, title, summary }) => `| [${title}](${file}) | ${summary} |`),
  ].join('\n'))
  return `# Documentation\n\n${sections.join('\n\n')}\n`
}

/** Returns the pages of the docs in their order, each with its path in that folder. Folders and files begin with a number. */
export function listPages(root: string): string[] {
  return readdirSync(join(root, 'docs'))
    .filter(folder => /^\d+\./.test(folder))
    .flatMap(folder => readdirSync(join(root, 'docs', folder)).map(name => `${folder}/${name}`))
    .filter(path => /\/\d+\.[^/]+\.md$/.test(path))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** @param root the folder of the repository */
export function generateAgentFiles(root: string): AgentFiles {
  const pages = listPages(root).map(file => readPage(root, file))
  return {
    'llms.txt': toIndex(pages),
    'skills/nuxt-auto-api/SKILL.md': toSkill(pages),
    'docs/errors.md': toRootPage(pages.find(({ file }) => file === ERRORS)!),
  }
}

export function writeAgentFiles(root: string): void {
  for (const [path, text] of Object.entries(generateAgentFiles(root))) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** @param file the path of the page in the folder of the docs */
export function readPage(root: string, file: string): Page {
  const text = readFileSync(join(root, 'docs', file), 'utf8')
  const [, title = file] = /^# (.+)$/m.exec(text) ?? []
  const [paragraph = ''] = text.replace(/^# .+\n+/, '').split('\n\n')
  const plain = paragraph.replace(/\s+/g, ' ').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
  return { file, title, summary: /^.+?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain, text }
}

/** A copy of the page for the folder of the docs itself. */
const toRootPage = ({ file, text }: Page) =>
  text.replace(/\]\((?!https?:|#)([^)\s]+)\)/g, (_, link: string) => `](${normalize(join(dirname(file), link))})`)

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
