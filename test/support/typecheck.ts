/** Checks the types of sources, tests and the playground, and in the full tier those of fixtures. */
import { spawnSync } from 'node:child_process'
import { CHECKED, prepare } from './prepare.ts'

await prepare()
const { status } = spawnSync('vue-tsc', ['-b', '--noEmit', ...CHECKED], { stdio: 'inherit', shell: process.platform === 'win32' })
process.exitCode = status ?? 1
