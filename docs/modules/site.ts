/**
 * What the site adds to Docus: links between files become routes, `llms.txt`, `llms-full.txt` and the Markdown of each page are files, and
 * old addresses redirect.
 */
import { addPrerenderRoutes, defineNuxtModule } from '@nuxt/kit'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { listPages, readPage } from '../../build.docs.ts'
import { toRoute } from '../site/links.ts'
import { changeBody, changeLinks, type Body } from '../site/parse.ts'
import { listRedirects } from '../site/redirects.ts'

export default defineNuxtModule({
  meta: { name: 'site' },
  setup(_, nuxt) {
    const root = join(nuxt.options.rootDir, '..')
    const pages = listPages(root).map(file => readPage(root, file))
    const redirects = listRedirects(pages.map(({ file }) => file))
    const repository = findRepository(root)
    nuxt.options.runtimeConfig.public.repository = repository
    nuxt.options.appConfig.github = repository === '' ? false : { url: repository, branch: 'main', rootDir: 'docs' }

    nuxt.hook('content:file:beforeParse', ({ file }) => {
      // `docs/1.start/2.starters.md` and `landing/index.md`: the name of the collection, and the file.
      file.body = changeLinks(file.body, file.id.slice(file.id.indexOf('/') + 1), repository)
    })
    nuxt.hook('content:file:afterParse', ({ content }) => {
      changeBody(content.body as Body)
      // The navigation compares texts: 10 comes after 02.
      content.stem = (content.stem as string).replace(/(^|\/)(?=\d\.)/g, '$10')
    })

    const written = join(nuxt.options.buildDir, 'site')
    // A build begins with an empty folder.
    nuxt.hook('build:before', () => writeFiles(written, {
      'llms.txt': toIndex(pages),
      'llms-full.txt': pages.map(({ text }) => text).join('\n'),
      ...Object.fromEntries(pages.map(({ file, text }) => [`${toRoute(file).slice(1)}.md`, text])),
    }))

    Object.assign(nuxt.options.routeRules ??= {}, Object.fromEntries(Object.entries(redirects).map(([from, to]) => [from, { redirect: to }])))
    addPrerenderRoutes([...Object.keys(redirects), ...pages.map(({ file }) => toRoute(file))])
    nuxt.hook('nitro:config', (config) => {
      (config.publicAssets ??= []).push(
        { dir: written, maxAge: 0 },
        { dir: join(nuxt.options.rootDir, 'images'), baseURL: 'images', maxAge: 0 },
      )
    })
    nuxt.hook('nitro:init', nitro => nitro.hooks.hook('prerender:generate', (route) => {
      const to = redirects[route.route]
      if (to !== undefined) route.contents = toRedirect(nuxt.options.app.baseURL.replace(/\/$/, '') + to)
    }))
  },
})

/** The URL of the repository: `NUXT_PUBLIC_REPOSITORY`, or `repository` of the package. Without both, pages have no link to edit them. */
function findRepository(root: string): string {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { repository?: string | { url: string } }
  const url = process.env.NUXT_PUBLIC_REPOSITORY ?? (typeof repository === 'object' ? repository.url : repository) ?? ''
  return url.replace(/^git\+/, '').replace(/\.git$|\/$/, '')
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

const toIndex = (pages: readonly ReturnType<typeof readPage>[]) => `# nuxt-auto-api

> Authorized REST APIs and typed Vue composables for Drizzle tables in Nuxt. All pages in one file: [llms-full.txt](/llms-full.txt)

${pages.map(({ file, title, summary }) => `- [${title}](${toRoute(file)}.md): ${summary}`).join('\n')}
`

/** A page that redirects, for hosts of static files. The script keeps the anchor, which the refresh without scripts drops. */
const toRedirect = (to: string) => `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title><link rel="canonical" href="${to}">
<script>location.replace(${JSON.stringify(to)} + location.hash)</script>
<meta http-equiv="refresh" content="0; url=${to}"></head>
<body><p>This page has moved to <a href="${to}">${to}</a>.</p></body></html>
`
