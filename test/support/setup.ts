/**
 * Settings of all property tests: the seed of the run, and on push a time limit beside the number of runs. A property that reaches the
 * limit
 * passes with the runs until then; the full tier has no limit.
 */
import fc from 'fast-check'
import { isFull } from './tiers'

const LIMIT = 20_000

fc.configureGlobal({
  ...process.env.SEED !== undefined && { seed: Number(process.env.SEED) },
  ...!isFull && { interruptAfterTimeLimit: LIMIT, markInterruptAsFailure: false },
})
