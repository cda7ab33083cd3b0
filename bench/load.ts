/** The load generator, in its own process: it receives a job, runs autocannon, and sends the counts back. */
import autocannon from 'autocannon'
import type { Job, Load } from './measure.ts'

process.on('message', async (job: Job) => {
  const { url, requests, connections, seconds } = job
  const result = await autocannon({ url, requests, connections, duration: seconds })
  const load: Load = {
    perSecond: result['2xx'] / result.duration,
    succeeded: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
    p99: result.latency.p99,
  }
  process.send!(load)
})

// The benchmark has ended.
process.on('disconnect', () => process.exit())
