/** Reads the code blocks of a page of the documentation. */

export interface Snippet {
  readonly title: string
  readonly language: string
  /** The file in brackets. */
  readonly source?: string
  readonly code: string
}

export function findSnippets(markdown: string): Snippet[] {
  return [...markdown.matchAll(/^```(\w*)(?: \[([^\]]+)\])?\n([\s\S]*?)^```$/gm)].map(([, language, source, code]) => ({
    title: `${source ?? language}: ${code!.trim().split('\n', 1)[0]}`, language: language!, code: code!, ...source && { source },
  }))
}

/** Pages whose files and commands a test of the package follows in an empty app, so no file of the repository has their code. */
export const FOLLOWED_PAGES = ['docs/getting-started.md', 'docs/postgres.md'] as const
