/** The measured plugins. Each server has those that its environment names, because plugins cost every request or every write. */
import { activityFeed, auditLog, dataExport, live, requestMetadata, responseCache, webhooks } from 'nuxt-auto-api/plugins'
import { findUser } from './auth/webhooks'

const cache = process.env.BENCH_CACHE

/** A response uses at most a quarter of it: a total fits, and a page of 20 posts does not. */
const SMALL = 16 * 1024

export default [
  ...process.env.BENCH_PLUGINS
    ? [
        dataExport({ concurrent: 50 }),
        auditLog({ resources: ['posts'] }),
        activityFeed({ actor: { resource: 'users', label: 'name' }, labels: { posts: 'title' } }),
      ]
    : [],
  ...process.env.BENCH_LIVE ? [live({ maxStreams: 20_000, maxStreamsPerCaller: 20_000 })] : [],
  ...process.env.BENCH_WEBHOOKS ? [webhooks({ findUser, timeout: 60, allowHttp: true, allowPrivateNetworks: true })] : [],
  ...process.env.BENCH_METADATA ? [requestMetadata()] : [],
  ...cache ? [responseCache({ ttl: 3600, reads: { posts: [] }, ...cache === 'totals' && { maxBytes: SMALL } })] : [],
]
