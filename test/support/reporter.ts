/** Vitest reporter that writes the tally of a run to a file. `run.ts` prints it as the last output of the run. */
import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'
import { tally } from './tally.ts'

export const tallyReporter: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const file = process.env.TALLY_FILE
    if (file) writeFileSync(file, JSON.stringify(tally(modules, unhandledErrors)))
  },
}
