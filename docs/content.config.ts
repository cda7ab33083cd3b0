/** The pages: the Markdown files of the numbered folders, and the start page. */
import { defineCollection, defineContentConfig } from '@nuxt/content'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('.', import.meta.url))

export default defineContentConfig({
  collections: {
    docs: defineCollection({ type: 'page', source: { cwd, include: '*/*.md', exclude: ['{node_modules,starters,.nuxt,.output,.data}/**'], prefix: '/' } }),
    landing: defineCollection({ type: 'page', source: { cwd, include: 'index.md', prefix: '/' } }),
  },
})
