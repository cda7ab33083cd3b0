/** Writes a row into the outbox for each changed row, in the same commit. Only on servers with `BENCH_OUTBOX`. */
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { outbox } from './database/schema'

const mode = process.env.BENCH_OUTBOX
const images = mode === 'images'

export default defineAutoApiPlugin({
  name: 'outbox',
  ...mode && {
    ...images && { needs: { images } },
    inCommit: changes => changes.map(rows => rows.insertInto(outbox, {
      kind: `${rows.resource}.${rows.kind}`,
      recordId: rows.id,
      organizationId: rows.tenant,
      after: images ? rows.after : null,
      createdAt: new Date(),
    })),
  },
})
