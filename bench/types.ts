/** Measures how long typed composables take to compile: 50 tables with a page each, and the same pages typed by hand. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { median } from './median.ts'

const TABLES = 50
const ROUNDS = 5
const root = fileURLToPath(new URL('..', import.meta.url))

interface Projects {
  readonly writePlainProject: (at: string, tables: number) => void
  readonly writeTypedProject: (at: string, tables: number, codeOf: undefined, runtime: string) => Promise<void>
}

/**
 * Compiles both projects five times in turns, and prints the medians. The compiler reads the declarations that the build writes, as in an
 * app, and not the sources of the module.
 * @throws When the module or a project does not compile.
 */
export async function compareTypes(): Promise<void> {
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('`npm run build` failed.')
  // The module's build code writes the project. Its imports have no extensions, so it needs jiti.
  const { writePlainProject, writeTypedProject } = await createJiti(import.meta.url).import<Projects>('../test/support/typed-project.ts')
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'types-'))
  try {
    const projects = ['by hand', 'nuxt-auto-api'].map(title => ({
      title,
      at: join(folder, title.replace(' ', '-')),
      seconds: [] as number[],
    }))
    for (const { at } of projects) mkdirSync(at)
    writePlainProject(projects[0]!.at, TABLES)
    await writeTypedProject(projects[1]!.at, TABLES, undefined, join(root, 'dist/runtime'))
    for (let round = -1; round < ROUNDS; round++) {
      for (const { at, seconds } of round % 2 === 0 ? projects : projects.toReversed()) {
        const taken = compile(at)
        // The first round is not measured: it fills the caches.
        if (round >= 0) seconds.push(taken)
      }
    }
    const [plain] = projects
    console.info(
      [
        '| types | CPU seconds, median of 5 | ratio |',
        '| --- | --: | --: |',
        ...projects.map(({ title, seconds }) => {
          const ratio = median(seconds.map((value, round) => value / plain!.seconds[round]!))
          return `| ${title} | ${median(seconds).toFixed(2)} | ${ratio.toFixed(2)} |`
        }),
      ].join('\n'),
    )
  }
  finally {
    rmSync(folder, { recursive: true })
  }
}

/** Prints the processor time, because other work on the machine makes the elapsed time longer. */
const PRINT_CPU = 'data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();console.error(user+system)})'

/** @returns the processor time in seconds */
function compile(at: string): number {
  const command = ['--import', PRINT_CPU, join(root, 'node_modules/vue-tsc/bin/vue-tsc.js'), '--noEmit', '-p', at]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${at} does not compile.\n${stdout}`)
  return Number(stderr.trim().split('\n').at(-1)) / 1e6
}
