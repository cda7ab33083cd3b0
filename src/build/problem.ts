/** Problems of a configuration: where the problem is, what is wrong, and what to write instead. */

/** The package contains its docs, so the path in a message opens in the developer's editor. */
export const DOCS = 'node_modules/nuxt-auto-api/docs'

/** The page of every `anchor`. */
export const UPGRADE_NOTES = `${DOCS}/upgrading.md`

export interface Problem {
  /** Path of the wrong value in the configuration: `posts.authorization.permissions.read`. */
  readonly where: string
  /** What is wrong, as the end of a sentence whose subject is `where`: `was removed`. */
  readonly what: string
  /** What to write instead, as full sentences. */
  readonly instead: string
  /** Heading of the upgrade notes with more details. */
  readonly anchor?: string
}

/** The message of one problem. */
export function toMessage({ where, what, instead, anchor }: Problem): string {
  const sentence = `\`${where}\` ${what}. ${instead}`
  return anchor ? `${sentence} → ${UPGRADE_NOTES}#${anchor}` : sentence
}

/** Stops the build and lists every problem, so that one build is enough to find all of them. */
export class AutoApiBuildError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(problem => `[auto-api] ${toMessage(problem)}`).join('\n'))
    this.name = 'AutoApiBuildError'
  }
}

/** @throws AutoApiBuildError when there is at least one problem. */
export function assertNoProblems(problems: readonly Problem[]): void {
  if (problems.length) throw new AutoApiBuildError(problems)
}
