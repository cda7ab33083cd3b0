/** Checks the types of sources, tests and the playground. In the full tier, those of the fixtures with projects of their own, too. */
import { spawnSync } from 'node:child_process'
import { FIXTURES, prepare, TESTED } from './prepare.ts'
import { isFull } from './tiers.ts'

const checked = ['.', 'playground', ...isFull ? FIXTURES : []]
await prepare([...new Set([...TESTED, ...checked])])
const { status } = spawnSync('vue-tsc', ['-b', '--noEmit', ...checked], { stdio: 'inherit', shell: process.platform === 'win32' })
process.exitCode = status ?? 1
