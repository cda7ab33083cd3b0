/** Problems of a configuration. Each problem has the position of the value, the fault and the correction. */

/** The folder of the docs in the installed package. Developers can open the path of a message in their editor. */
export const DOCS = 'node_modules/nuxt-auto-api/docs'

/** The page that contains the heading of every `anchor`. */
export const UPGRADE_NOTES = `${DOCS}/6.project/1.upgrading.md`

export interface Problem {
  /** Path of the wrong value in the configuration, such as `posts.authorization.permissions.read`. */
  readonly where: string
  /** The fault, as the end of a sentence whose subject is `where`: `was removed`. */
  readonly what: string
  /** The correction, in full sentences. */
  readonly instead: string
  /** Heading of the upgrade notes with more details. */
  readonly anchor?: string
}

/** Returns the message of one problem. */
export function toMessage({ where, what, instead, anchor }: Problem): string {
  const sentence = `\`${where}\` ${what}. ${instead}`
  return anchor ? `${sentence} → ${UPGRADE_NOTES}#${anchor}` : sentence
}

/** The error that stops the build. It lists every problem, so that one build shows all of them. */
export class AutoApiBuildError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(problem => `[auto-api] ${toMessage(problem)}`).join('\n'))
    this.name = 'AutoApiBuildError'
  }
}

/** @throws AutoApiBuildError if there is at least one problem */
export function assertNoProblems(problems: readonly Problem[]): void {
  if (problems.length) throw new AutoApiBuildError(problems)
}
