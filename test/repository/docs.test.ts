/** The documentation: its code exists in the repository, its links resolve, its references are complete. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { generateIndex, listPages } from '../../build.docs'
import { toMessage } from '../../src/build/problem'
import { findRemovedOptions } from '../../src/build/removed'
import { findSnippets } from '../../src/cli/snippets'
import { fieldForbidden, unknownField } from '../../src/runtime/server/core/error'
import { ERRORS } from '../../src/runtime/shared/error-codes'
import type { AutoApiContext } from '../../src/runtime/server/registration'
import { FOLLOWED_PAGES } from '../support/markdown'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'

const root = fileURLToPath(new URL('../..', import.meta.url))
const REFERENCES = ['docs/3.reference/1.options.md', 'docs/3.reference/4.errors.md']
const guides = listPages(root).map(name => `docs/${name}`).filter(page => !REFERENCES.includes(page))
const pages = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md', 'docs/index.md', ...guides, ...REFERENCES]

/** Languages of snippets that are no code of the repository: commands, requests, responses. */
const WITHOUT_SOURCE = new Set(['sh', 'json', 'http', 'text', 'diff'])

/** Pages with code of an app before and after an upgrade, or of an app that a test of the package creates. */
const PAGES_WITHOUT_SOURCES = new Set<string>(['docs/6.project/1.upgrading.md', ...FOLLOWED_PAGES])

/** Pages that do not have the headings of a plugin page. */
const WITHOUT_TEMPLATE = /\.(?:overview|plugin-kit)\.md$/

const snippets = pages
  .filter(page => !PAGES_WITHOUT_SOURCES.has(page))
  .flatMap(page => findSnippets(read(page)).map(snippet => ({ page, ...snippet })))
const repositoryPaths = pages.flatMap(page => findPaths(read(page)).map(path => ({ page, path })))
const links = pages.flatMap(page => findLinks(read(page)).map(link => ({ page, link })))

describe('the documentation', () => {
  it.each(snippets.filter(({ language }) => !WITHOUT_SOURCE.has(language)))(
    'shows code of the repository: $page, $title',
    ({ language, source, code }) => {
      expect(source, `\`\`\`${language} needs [path]`).toBeDefined()
      const file = normalize(read(source!))
      // `// …` stands for omitted lines.
      for (const part of code.split(/^\s*\/\/ …$/m).map(normalize)) expect(file).toContain(part)
    },
  )

  it('lists every page with its first sentence in docs/README.md', () => {
    expect(read('docs/README.md'), 'run `npm run docs:index`').toBe(generateIndex(root))
  })

  it('has at most eight links in the table of the README', () => {
    const rows = read('README.md').split('\n').filter(line => line.startsWith('| [') && line.includes('](docs/'))
    expect(rows.length).toBeLessThanOrEqual(8)
  })

  it.each(guides)('links the references of options and errors: %s', (page) => {
    const targets = findLinks(read(page)).map(link => join(dirname(page), link.split('#')[0]!))
    expect(targets).toEqual(expect.arrayContaining(REFERENCES))
  })

  it.each(repositoryPaths)('names files that exist: $page, $path', ({ path }) => {
    expect(existsSync(join(root, path))).toBe(true)
  })

  it.each(links)('has links that resolve: $page, $link', ({ page, link }) => {
    const [path, anchor] = link.split('#') as [string, string | undefined]
    const target = path === '' ? page : relative(root, join(root, dirname(page), path))
    expect(existsSync(join(root, target))).toBe(true)
    if (anchor !== undefined) expect(headings(read(target))).toContain(anchor)
  })
})

describe('a page of a plugin', () => {
  /** The headings as CONTRIBUTING lists them. `undefined` stands for those of the plugin's own subjects. */
  const template = [...read('CONTRIBUTING.md').matchAll(/^\d\. (?:`(.+?)`)?/gm)].map(([, heading]) => heading)
  const positionOf = (heading: string) => template.indexOf(template.includes(heading) ? heading : undefined)

  const pagesOfPlugins = guides.filter(page => page.includes('/4.plugins/') && !WITHOUT_TEMPLATE.test(page))

  it.each(pagesOfPlugins)('has the headings of the template in their order: %s', (page) => {
    const found = [...withoutCode(read(page)).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!)
    expect(found).toEqual(found.toSorted((one, other) => positionOf(one) - positionOf(other)))
    expect(found).toEqual(expect.arrayContaining(['Install', 'Options', 'Limits']))
  })
})

describe('messages in the docs', () => {
  it.each([
    ['docs/3.reference/4.errors.md', JSON.stringify(unknownField('filter', 'colour', []).message)],
    ['docs/2.guides/7.writing.md', JSON.stringify(fieldForbidden({ user: { id: 1 } } as unknown as AutoApiContext, ['approved']).message)],
    ['docs/6.project/1.upgrading.md', findRemovedOptions({ autoApi: { multiTenancy: { getTenantId: true } } }).map(toMessage).join()],
  ])('are those of the code: %s', (page, message) => {
    expect(read(page)).toContain(message)
  })
})

describe('the docs page options', () => {
  const rows = tableRows(read('docs/3.reference/1.options.md'))

  it.each(optionPaths({ ...DEFAULT_CONFIG, multiTenancy: DEFAULT_MULTI_TENANCY }))(
    'lists the option %s with its default',
    (path, value) => {
      const [, written] = rows.find(([option]) => option === `\`${path}\``) ?? []
      // `1mb` and `1048576` are the same size.
      const isSize = typeof value === 'number' && value % 2 ** 20 === 0
      expect(written).toBe(isSize ? `\`'${value / 2 ** 20}mb'\`` : `\`${toCode(value)}\``)
    },
  )
})

/** Codes of the composables for responses without a code of the server. */
const CLIENT_CODES = ['NO_ANSWER', 'UNEXPECTED']

describe('the docs page errors', () => {
  const rows = tableRows(read('docs/3.reference/4.errors.md'))
  const sections = [...read('docs/3.reference/4.errors.md').matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code!)

  it.each(Object.entries(ERRORS))('lists the code %s with its status, and links its section', (code, { status }) => {
    const [written] = rows.find(([, cell]) => cell === `[\`${code}\`](#${code.toLowerCase()})`) ?? []
    expect(written).toMatch(code === 'BULK_FAILED' ? /^first failed item's$/ : new RegExp(`^${status}\\b`))
  })

  // The `type` of problem details links the section.
  it('has a section for each code, and no other', () => {
    expect(sections.toSorted()).toEqual([...Object.keys(ERRORS), ...CLIENT_CODES].toSorted())
  })

  it('knows every code that the sources create an error with', () => {
    const created = sourceFiles('src').flatMap(path =>
      [...read(path).matchAll(/(?:\bapiError|new ApiError|new AutoApiError)\(\s*(?:\{[^}]*\bcode: )?'([A-Z][A-Z0-9_]*)'/g)].map(
        ([, code]) => ({ path, code: code! }),
      ),
    )
    expect(created.length).toBeGreaterThan(30)
    // The example of a code of an app.
    expect(created.filter(({ code }) => code !== 'QUOTA_EXCEEDED' && !Object.hasOwn(ERRORS, code))).toEqual([])
  })
})

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(?:ts|vue)$/.test(name)).map(name => join(folder, name))
}

function findLinks(markdown: string): string[] {
  return [...new Set([...withoutCode(markdown).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target]) => target!))]
}

/** Files and folders of the repository that the text names, such as `src/module.ts`. */
function findPaths(markdown: string): string[] {
  return [...new Set([...withoutCode(markdown).matchAll(/`((?:src|test|bench|playground|\.ci)\/[\w./-]+)`/g)].map(([, path]) => path!))]
    .filter(path => !path.includes('.output'))
}

function headings(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)]
    .map(([, text]) => text!.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-'))
}

/** The cells of all tables, row by row. */
function tableRows(markdown: string): string[][] {
  return [...markdown.matchAll(/^\| (.+) \|$/gm)].map(([, row]) => row!.split(' | '))
}

/** `{ bulk: { enabled: true } }` → `['bulk.enabled', true]` */
function optionPaths(config: object, prefix = ''): [string, unknown][] {
  return Object.entries(config).flatMap(([key, value]: [string, unknown]) => {
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    return isGroup ? optionPaths(value, `${prefix}${key}.`) : [[`${prefix}${key}`, value] as [string, unknown]]
  })
}

function toCode(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
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
