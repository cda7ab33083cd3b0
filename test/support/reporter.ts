/** Vitest reporter that hands the tally of a run to `run.ts`, which prints it when nothing can print after it. */
import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'
import { tally } from './tally.ts'

export const tallyReporter: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const file = process.env.TALLY_FILE
    if (file) writeFileSync(file, JSON.stringify(tally(modules, unhandledErrors)))
  },
}
