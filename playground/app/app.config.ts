/** The colors of Nuxt UI. The admin has them, too. */
export default defineAppConfig({
  ui: {
    colors: { primary: 'indigo', neutral: 'slate' },
  },
})
