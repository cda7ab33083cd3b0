/** The measured plugins. Each server has those that its environment names, because plugins cost every request or every write. */
import { activityFeed, auditLog, dataExport, responseCache } from 'nuxt-auto-api/plugins'

export default [
  ...process.env.BENCH_PLUGINS
    ? [
        dataExport({ concurrent: 50 }),
        auditLog({ resources: ['posts'] }),
        activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
      ]
    : [],
  ...process.env.BENCH_CACHE ? [responseCache({ ttl: 3600, reads: { posts: [] } })] : [],
]
