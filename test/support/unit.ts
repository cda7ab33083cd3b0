/** Runs or watches unit tests at once: what they read is prepared only when it is missing or outdated. */
import { spawnSync } from 'node:child_process'
import { prepare, TESTED } from './prepare.ts'

await prepare(TESTED)
const projects = ['unit', 'process', 'build'].flatMap(name => ['--project', name])
const { status } = spawnSync('vitest', [...process.argv.slice(2), ...projects], { stdio: 'inherit', shell: process.platform === 'win32' })
process.exitCode = status ?? 1
