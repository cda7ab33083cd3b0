export default defineAppConfig({
  ui: { colors: { primary: 'indigo', neutral: 'slate' } },
  header: { title: 'nuxt-auto-api', logo: { light: '/icon.svg', dark: '/icon.svg', alt: 'nuxt-auto-api', favicon: '/icon.svg' } },
  navigation: { sub: 'header' },
  toc: { title: 'On this page' },
})
