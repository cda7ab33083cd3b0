/**
 * The order of the test files: those that took longest in the kept run start first, so that no worker waits for the last one. New files
 * come
 * before all others. In the full tier the seed of the run decides the order of files that share their modules, to find those that need it.
 */
import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root } from './once.ts'
import { isFull, TIER } from './tiers.ts'
import { keptFiles, type Times } from './times.ts'

type Ordered = Pick<TestSpecification, 'moduleId'> & {
  readonly project: {
    readonly name: string
    readonly config: { readonly isolate: boolean, readonly sequence: { readonly groupOrder: number } }
  }
}

/**
 * Files of projects without isolation stay together, because a worker is kept for the files of one project.
 * @param seed decides the order of these files, if it is given
 */
export function longestFirst<File extends Ordered>(files: readonly File[], times: Times, seed?: string): File[] {
  const secondsOf = ({ project, moduleId }: File) => {
    const path = relative(root, moduleId).replaceAll('\\', '/')
    if (seed !== undefined && !project.config.isolate) return createHash('sha1').update(seed + path).digest().readUInt32LE()
    return times[project.name]?.[path] ?? Infinity
  }
  const rows = files.map((file) => {
    const { name, config: { isolate, sequence } } = file.project
    return { file, group: sequence.groupOrder, shares: isolate ? '' : name, seconds: secondsOf(file) }
  })
  return rows
    .sort(
      (a, b) =>
        a.group - b.group
        || (a.shares < b.shares ? -1 : a.shares > b.shares ? 1 : 0)
        || (a.seconds === b.seconds ? 0 : b.seconds - a.seconds),
    )
    .map(({ file }) => file)
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(files, keptFiles(TIER) ?? keptFiles('push') ?? {}, isFull ? process.env.SEED : undefined)
  }
}
