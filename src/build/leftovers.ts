/** Finds calls of functions that were removed. Without this check, the first request would fail with "… is not defined". */
import { isAbsolute, relative } from 'pathe'
import type { Problem } from './problem'

interface Removed {
  readonly name: string
  readonly instead: string
  readonly anchor: string
}

const REMOVED: readonly Removed[] = [
  {
    name: 'defineAutoApiHandler',
    instead: 'Use `createEndpoint({ handler })`; the handler returns the payload without `{ data }`.',
    anchor: 'defineautoapihandler',
  },
]

/** Reports calls in the files of handlers. A function of this name that the app declares or imports itself is allowed. */
export function findLeftovers(
  handlers: readonly { readonly handler: string }[],
  rootDir: string,
  read: (file: string) => string,
): Problem[] {
  return handlers.filter(({ handler }) => isAbsolute(handler)).flatMap(({ handler }) => {
    const source = read(handler)
    return REMOVED.filter(({ name }) => isLeft(source, name)).map(({ name, instead, anchor }) => ({
      where: relative(rootDir, handler), what: `calls \`${name}\`, which was removed`, instead, anchor,
    }))
  })
}

function isLeft(source: string, name: string): boolean {
  if (!new RegExp(`\\b${name}\\s*\\(`).test(source)) return false
  return !new RegExp(`\\b(?:function|const|let|var)\\s+${name}\\b|\\bimport\\b[^'"]*\\b${name}\\b`).test(source)
}
