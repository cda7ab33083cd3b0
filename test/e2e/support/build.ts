/** Builds the fixture apps. A build is kept until one of the files it is made of changes, so test files and runs share it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { hashOf, makeOnce, root } from '../../support/once'
import { environment } from './environment'

export interface BuildOptions {
  /** Which of the fixture's builds, where it has more than one: its output is in `.output/<variant>`. */
  readonly variant?: string
  /** More environment variables that the fixture's `nuxt.config` reads. */
  readonly env?: Readonly<Record<string, string>>
}

/** What a build reads besides its own fixture; the fixture `edge` is made of the playground's files. */
const SHARED = ['src', 'playground', 'test/support/aliases.ts', 'test/support/streams-plugin.ts', 'test/support/gate.ts', 'package.json', 'package-lock.json']

/** @returns the folder of the built server. @throws With what was printed when the build fails. */
export async function buildFixture(name: string, { variant, env = {} }: BuildOptions = {}): Promise<string> {
  const folder = folderOf(name)
  const output = join(root, folder, '.output', variant ?? '')
  await makeOnce(output, hashOf([...SHARED, folder], variant ?? '', JSON.stringify(env)), async () => {
    const build = spawn(join(root, 'node_modules/.bin/nuxi'), ['build', folder], {
      cwd: root, env: { ...environment, ...variant && { FIXTURE_VARIANT: variant }, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    for (const stream of [build.stdout, build.stderr]) stream.on('data', chunk => printed += chunk)
    const [status] = await once(build, 'close')
    if (status !== 0) throw new Error(`the build failed\n${printed}`)
  })
  return output
}

/** The folder of a fixture, relative to the repository. The playground is built like a fixture. */
export const folderOf = (name: string) => name === 'playground' ? name : `test/fixtures/${name}`
