/** The measured plugins. Only on servers with `BENCH_PLUGINS`, because a plugin that records changes costs every write. */
import { activityFeed, auditLog, dataExport } from 'nuxt-auto-api/plugins'

export default process.env.BENCH_PLUGINS
  ? [
      dataExport({ concurrent: 50 }),
      auditLog({ resources: ['posts'] }),
      activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
    ]
  : []
