/** Suggests the closest known name for a mistyped one. */

/** Returns ` Did you mean \`maxLimit\`?`, or `''` if no name is close enough. */
export function didYouMean(unknown: string, known: readonly string[]): string {
  const closest = findClosest(unknown, known)
  return closest ? ` Did you mean \`${closest}\`?` : ''
}

/** Returns the known name with the smallest edit distance. The distance can be 1, or up to a third of the length of the known name. */
export function findClosest(unknown: string, known: readonly string[]): string | undefined {
  const ranked = known
    // The distance is at least the difference of the lengths. Without this, a long name of a client would take seconds.
    .filter(name => unknown.length - name.length <= allowedDistance(name))
    .map(name => ({ name, distance: editDistance(unknown.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  return best && best.distance <= allowedDistance(best.name) ? best.name : undefined
}

const allowedDistance = (name: string) => Math.max(1, Math.floor(name.length / 3))

/** Computes the edit distance, where two swapped letters are one edit. The code is here to avoid a dependency of every app. */
function editDistance(from: string, to: string): number {
  const letters = [...from]
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)]
  for (const [row, letter] of letters.entries()) {
    const previous = rows[row]!
    const current = [row + 1]
    for (let column = 0; column < to.length; column++) {
      const substitution = previous[column]! + (letter === to[column] ? 0 : 1)
      const isSwapped = row > 0 && column > 0 && letter === to[column - 1] && letters[row - 1] === to[column]
      const swap = isSwapped ? rows[row - 1]![column - 1]! + 1 : Infinity
      current.push(Math.min(substitution, swap, previous[column + 1]! + 1, current[column]! + 1))
    }
    rows.push(current)
  }
  return rows.at(-1)![to.length]!
}
