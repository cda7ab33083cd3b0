export default defineAppConfig({
  ui: {
    colors: { primary: 'indigo', neutral: 'slate' },
    // A long name ends before the button that copies the code.
    prose: { pre: { slots: { header: 'pe-14', filename: 'truncate' } } },
  },
  header: { title: 'nuxt-auto-api' },
  navigation: { sub: 'header' },
  // The full-text index of SQLite. The other search compares every section with the query, and blocks the page for seconds.
  search: { fts: true },
  toc: { title: 'On this page' },
})
