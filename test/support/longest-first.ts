/**
 * The order of the test files: those that took longest in the kept run start first, so that no worker waits for the last one. New files come
 * before all others.
 */
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root } from './once.ts'
import { TIER } from './tiers.ts'
import { keptFiles, type Times } from './times.ts'

type Ordered = Pick<TestSpecification, 'moduleId'> & {
  readonly project: { readonly name: string, readonly config: { readonly isolate: boolean, readonly sequence: { readonly groupOrder: number } } }
}

/** Files of projects without isolation stay together, because a worker is kept for the files of one project. */
export function longestFirst<File extends Ordered>(files: readonly File[], times: Times): File[] {
  const secondsOf = ({ project, moduleId }: File) => times[project.name]?.[relative(root, moduleId).replaceAll('\\', '/')] ?? Infinity
  const rows = files.map((file) => {
    const { name, config: { isolate, sequence } } = file.project
    return { file, group: sequence.groupOrder, shares: isolate ? '' : name, seconds: secondsOf(file) }
  })
  return rows
    .sort((a, b) => a.group - b.group || (a.shares < b.shares ? -1 : a.shares > b.shares ? 1 : 0) || (a.seconds === b.seconds ? 0 : b.seconds - a.seconds))
    .map(({ file }) => file)
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(files, keptFiles(TIER) ?? keptFiles('push') ?? {})
  }
}
