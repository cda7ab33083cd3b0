/** What is wrong with a configuration, said the same way everywhere: where, what, and what to write instead. */

/** The package ships its docs, so the path of a message opens in the reader's editor. */
export const DOCS = 'node_modules/nuxt-auto-api/docs'

/** Where every anchor of a message leads. */
export const UPGRADE_NOTES = `${DOCS}/upgrading.md`

export interface Problem {
  /** The path of the offending value, as the reader wrote it: `posts.authorization.permissions.read`. */
  readonly where: string
  /** Continues the sentence that `where` begins: `was removed`. */
  readonly what: string
  /** What to write instead, as full sentences. */
  readonly instead: string
  /** Heading of the upgrade notes that explains more. */
  readonly anchor?: string
}

/** Renders one problem; no message of the build is put together anywhere else. */
export function toMessage({ where, what, instead, anchor }: Problem): string {
  const sentence = `\`${where}\` ${what}. ${instead}`
  return anchor ? `${sentence} → ${UPGRADE_NOTES}#${anchor}` : sentence
}

/** Stops the build with every problem found, so that nobody has to fix them one build at a time. */
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
