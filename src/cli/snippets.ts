/** Reads the code blocks of a page of the documentation. `init` writes the files of these blocks, and tests follow them. */

export interface Snippet {
  readonly title: string
  readonly language: string
  /** The file in brackets. */
  readonly source?: string
  readonly code: string
}

export function findSnippets(markdown: string): Snippet[] {
  return [...markdown.matchAll(/^```(\w*)(?: \[(.+)\])?\n([\s\S]*?)^```$/gm)].map(([, language, source, code]) => ({
    title: `${source ?? language}: ${code!.trim().split('\n', 1)[0]}`, language: language!, code: code!, ...source && { source },
  }))
}

/** Returns the packages that the commands of a page install. `spec` is the name, with the version if the command names one. */
export function findPackages(markdown: string): { readonly name: string, readonly spec: string, readonly dev: boolean }[] {
  return findSnippets(markdown)
    .filter(({ language, source }) => language === 'sh' && source === undefined)
    .flatMap(({ code }) => code.trim().split('\n'))
    .filter(line => line.startsWith('npm install '))
    .flatMap((line) => {
      const words = line.split(/\s+/).slice(2)
      return words.filter(word => !word.startsWith('-'))
        .map(spec => ({ name: spec.replace(/(?<=.)@.*$/, ''), spec, dev: words.includes('--save-dev') }))
    })
}
