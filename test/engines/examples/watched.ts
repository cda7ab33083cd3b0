/** The engine of the docs page `databases`: it logs slow queries. */
import { createEngine, defineEngine } from 'nuxt-auto-api/database'

export const watched = defineEngine({
  name: 'watched',
  dialect: 'sqlite',
  create(db) {
    const engine = createEngine('libsql', db)
    return {
      ...engine,
      async query(statement) {
        const start = performance.now()
        const rows = await engine.query(statement)
        if (performance.now() - start > 100) console.warn('Slow query:', statement.text)
        return rows
      },
    }
  },
})
