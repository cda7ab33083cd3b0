/** Positions in the log of a primary. */

/**
 * The number of the last commit of each stream of commits. MariaDB has a stream for each replication domain, and Postgres has one, with the
 * number 0. A later commit of a stream has a higher number. Numbers of different streams say nothing about each other.
 */
export type Position = ReadonlyMap<number, bigint>

/** Whether the log up to `reached` includes everything up to `position`. */
export const hasReached = (reached: Position, position: Position): boolean =>
  [...position].every(([stream, number]) => (reached.get(stream) ?? BigInt(-1)) >= number)

/** The position after everything up to both of them. */
export function latest(one: Position, other: Position): Position {
  const both = new Map(one)
  for (const [stream, number] of other) {
    const known = both.get(stream)
    if (known === undefined || known < number) both.set(stream, number)
  }
  return both
}

/** Hexadecimal numbers: `0:16b374d848`, or `0:2a,1:7` for two streams. */
export const toText = (position: Position): string =>
  [...position].map(([stream, number]) => `${stream.toString(16)}:${number.toString(16)}`).join(',')

/** Reads what {@link toText} returns. */
export const fromText = (text: string): Position =>
  new Map(text.split(',').filter(part => part !== '').map((part) => {
    const [stream, number] = part.split(':') as [string, string]
    return [Number.parseInt(stream, 16), BigInt(`0x${number}`)]
  }))
