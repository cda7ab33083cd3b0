/** Assertions without a test runner. */

/** @throws When the values differ. Compares arrays and objects by their contents, and bytes by their values. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [toText(actual), toText(expected)]
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, got ${found}`)
}

/** @returns The error that the function throws. @throws When it throws no error, or one that the test does not accept. */
export async function throws(run: () => unknown, what: string, accepts: (error: unknown) => boolean = () => true): Promise<unknown> {
  let result: unknown
  try {
    result = await run()
  }
  catch (error) {
    if (accepts(error)) return error
    throw new Error(`${what}: got another error`, { cause: error })
  }
  throw new Error(`${what}: expected an error, got ${toText(result)}`)
}

function toText(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, json: unknown) {
    const own = this[key]
    if (typeof own === 'bigint') return `${own}n`
    if (own instanceof Date) return `date ${own.getTime()}`
    if (own instanceof Uint8Array) return `bytes ${Array.from(own).join(' ')}`
    return own === undefined ? 'undefined' : json
  }) ?? 'undefined'
}
