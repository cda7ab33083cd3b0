/** The colors of Nuxt UI. */
export default defineAppConfig({
  ui: {
    colors: { primary: 'blue', neutral: 'slate' },
  },
})
