/** The site of the docs: Docus, with the pages of this folder. It is generated as static files and loads nothing from other hosts. */
export default defineNuxtConfig({
  extends: ['docus'],
  devtools: { enabled: false },
  app: {
    head: {
      // Hosts of static files add a slash to the address of a folder. The routes have none.
      script: [{ innerHTML: 'if (/.\\/$/.test(location.pathname)) history.replaceState(null, "", location.pathname.replace(/\\/+$/, "") + location.search + location.hash)' }],
      link: [{ rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }],
    },
  },
  site: { name: 'nuxt-auto-api' },
  content: {
    build: {
      markdown: {
        toc: { depth: 3, searchDepth: 3 },
        highlight: {
          theme: { light: 'github-light-high-contrast', default: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
          langs: ['bash', 'diff', 'http', 'json', 'sh', 'sql', 'ts', 'vue'],
        },
        // The pages are plain Markdown: `:name` in a sentence is no component.
        remarkPlugins: { 'remark-mdc': false },
      },
    },
  },
  ui: { fonts: false },
  // A host without settings finds `/start/starters/index.html`.
  nitro: { prerender: { autoSubfolderIndex: true, crawlLinks: true, failOnError: true } },
  telemetry: false,
  icon: {
    provider: 'none',
    fallbackToApi: false,
    // The icons of file names, which no source file contains. The others are found by a scan.
    clientBundle: { scan: true, icons: ['dotenv', 'json', 'nuxt', 'shell', 'sql', 'typescript', 'vue'].map(name => `vscode-icons:file-type-${name}`) },
  },
  image: { provider: 'none' },
  // `modules/site.ts` writes `llms.txt`. The other features of Docus need a server.
  llms: { domain: '' },
  mcp: { enabled: false },
  ogImage: { enabled: false },
})
