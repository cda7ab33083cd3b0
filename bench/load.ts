/** The load generator, in its own process: it receives a job, runs autocannon, and sends the counts back. */
import autocannon from 'autocannon'
import type { Job, Load } from './measure.ts'

process.on('message', async (job: Job) => {
  const { url, requests, connections, seconds, unmodified = false } = job
  const result = await autocannon({ url, requests, connections, duration: seconds, timeout: 60 })
  // autocannon counts a 304 in `non2xx` too.
  const succeeded = unmodified ? result['3xx'] : result['2xx']
  const load: Load = {
    perSecond: succeeded / result.duration,
    succeeded,
    failed: result['2xx'] + result.non2xx - succeeded + result.errors + result.timeouts,
    p99: result.latency.p99,
  }
  process.send!(load)
})

// The benchmark has ended.
process.on('disconnect', () => process.exit())
