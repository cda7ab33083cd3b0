/** The load generator, a process of its own: it takes a job, drives autocannon, answers with what was counted. */
import autocannon from 'autocannon'
import type { Job, Load } from './measure.ts'

process.on('message', async (job: Job) => {
  const { url, requests, connections, seconds } = job
  const result = await autocannon({ url, requests, connections, duration: seconds })
  const answer: Load = {
    perSecond: result['2xx'] / result.duration,
    answered: result['2xx'],
    failed: result.non2xx + result.errors + result.timeouts,
    p99: result.latency.p99,
  }
  process.send!(answer)
})

// The bench is gone, and nobody waits for an answer any more.
process.on('disconnect', () => process.exit())
