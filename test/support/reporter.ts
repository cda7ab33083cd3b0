/**
 * Vitest reporter of the test command: prints a line when a project ends, and writes the tally and the seconds of each file to a file,
 * which
 * `run.ts` prints as the last output of the run.
 */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { tally, type Tally } from './tally.ts'
import { secondsOf, type Times } from './times.ts'

/** What the test command learns from a run. */
export interface Written {
  readonly tally: Tally
  readonly times: Times
}

interface Progress {
  /** The files that have not ended. */
  waiting: number
  readonly modules: TestModule[]
  /** 0 until the first file starts. */
  began: number
}

export function createTallyReporter(file: string): Reporter {
  const projects = new Map<string, Progress>()
  return {
    onTestRunStart(specifications) {
      for (const { project: { name } } of specifications) {
        const progress = projects.get(name) ?? { waiting: 0, modules: [], began: 0 }
        progress.waiting++
        projects.set(name, progress)
      }
    },
    onTestModuleStart({ project: { name } }) {
      const progress = projects.get(name)
      if (progress?.began === 0) progress.began = Date.now()
    },
    onTestModuleEnd(module) {
      const progress = projects.get(module.project.name)
      if (!progress) return
      progress.modules.push(module)
      if (--progress.waiting === 0) console.log(lineOf(module.project.name, progress))
    },
    onTestRunEnd(modules, unhandledErrors) {
      const times: Record<string, Record<string, number>> = {}
      for (const module of modules) (times[module.project.name] ??= {})[module.relativeModuleId] = secondsOf(module.diagnostic())
      writeFileSync(file, JSON.stringify({ tally: tally(modules, unhandledErrors), times } satisfies Written))
    },
  }
}

/** `unit: 281 files, 9123 passed, 0 failed in 180 s` */
function lineOf(name: string, { modules, began }: Progress): string {
  const { passed, failed, skipped } = tally(modules, [])
  const left = Object.values(skipped).reduce((sum, count) => sum + count, 0)
  const seconds = began === 0 ? '' : ` in ${Math.round((Date.now() - began) / 1000)} s`
  return `${name}: ${modules.length} files, ${passed} passed, ${failed} failed${left > 0 ? `, ${left} skipped` : ''}${seconds}`
}
