/** Runs the unit tests of one folder of `folders.ts`, for Stryker. */
import { fileURLToPath } from 'node:url'
import { globSync } from 'node:fs'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import base from '../../vitest.config.ts'
import { FOLDERS } from './folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tests = FOLDERS[process.env.MUTATED ?? '']?.tests ?? []

/** Runs the test files in the order of `folders.ts`: a run ends with the first test that notices its change. */
class ListedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const order = tests.flatMap(pattern => globSync(pattern, { cwd: root }))
    const position = ({ moduleId }: TestSpecification) => order.indexOf(relative(root, moduleId).replaceAll('\\', '/'))
    return [...files].sort((a, b) => position(a) - position(b))
  }
}

export default defineConfig({
  root,
  resolve: (base as { readonly resolve: object }).resolve,
  test: {
    include: [...tests],
    runner: fileURLToPath(new URL('sweep.ts', import.meta.url)),
    sequence: { sequencer: ListedOrder },
    testTimeout: 10_000,
    hookTimeout: 60_000,
  },
})
