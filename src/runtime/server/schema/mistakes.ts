/** Collects the mistakes of registrations, so that one start or one build shows all of them. */

const PREFIX = '[auto-api] '

/**
 * Runs all checks, and returns their results.
 * @throws The error of the only check that fails, or one error with the messages of all checks that fail.
 */
export function runChecks<const C extends readonly (() => unknown)[]>(checks: C): { -readonly [I in keyof C]: ReturnType<C[I]> } {
  const errors: Error[] = []
  const results = checks.map((check) => {
    try {
      return check()
    }
    catch (error) {
      // Another error is a fault of the code, and not a mistake in a registration.
      if (!(error instanceof Error && error.message.startsWith(PREFIX))) throw error
      errors.push(error)
    }
  })
  if (errors.length > 0) throw errors.length === 1 ? errors[0]! : new Error([...new Set(errors.map(({ message }) => message))].join('\n'))
  return results as { -readonly [I in keyof C]: ReturnType<C[I]> }
}

/** Adds the name of a computed field to an error. */
export const inField = <T>(resource: string, name: string, create: () => T): T => inResource(`${resource}.computed.${name}`, create)

/** Adds the name of the resource to an error that does not have it, such as an error of Drizzle. */
export function inResource<T>(name: string, create: () => T): T {
  try {
    return create()
  }
  catch (error) {
    const { message } = error as Error
    throw message.startsWith(PREFIX) ? error : new Error(`${PREFIX}\`${name}\`: ${message}.`, { cause: error })
  }
}
