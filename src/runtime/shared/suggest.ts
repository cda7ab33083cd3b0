/** "Did you mean …?": the known name closest to a mistyped one. */

/** Returns ` Did you mean \`maxLimit\`?`, or nothing when no name is close enough to be a typo. */
export function didYouMean(unknown: string, known: readonly string[]): string {
  const closest = findClosest(unknown, known)
  return closest ? ` Did you mean \`${closest}\`?` : ''
}

/** A third of the letters may differ; beyond that a guess confuses more than it helps. */
export function findClosest(unknown: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map(name => ({ name, distance: editDistance(unknown.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  return best && best.distance <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined
}

/**
 * Levenshtein distance, kept to one row. Written here because names of options are a dozen letters long: a dependency
 * would be installed in every app for the sake of these lines.
 */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1]
    for (let column = 0; column < to.length; column++) {
      const replaced = previous[column]! + (letter === to[column] ? 0 : 1)
      current.push(Math.min(replaced, previous[column + 1]! + 1, current[column]! + 1))
    }
    previous = current
  }
  return previous[to.length]!
}
