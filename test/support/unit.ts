/** Runs or watches unit tests at once: the prepare steps of `npm test` run only when their output is missing. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const shell = process.platform === 'win32'

/** A file that each prepare step writes: TypeScript settings that the transform of a test reads. */
const PREPARED: readonly (readonly [file: string, command: string, ...args: string[]])[] = [
  ['.nuxt/tsconfig.json', 'nuxt-module-build', 'prepare'],
  ['playground/.nuxt/tsconfig.server.json', 'nuxi', 'prepare', 'playground'],
  ['test/fixtures/better-auth/.nuxt/file/tsconfig.server.json', 'nuxi', 'prepare', 'test/fixtures/better-auth'],
]

for (const [file, command, ...args] of PREPARED) {
  if (existsSync(root + file)) continue
  console.log(`${file} is missing: ${[command, ...args].join(' ')}`)
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell })
  if (status !== 0) process.exit(status ?? 1)
}

const { status } = spawnSync('vitest', [...process.argv.slice(2), '--project', 'unit'], { cwd: root, stdio: 'inherit', shell })
process.exitCode = status ?? 1
