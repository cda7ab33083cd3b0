/** The message of an error for the page, with the messages of failed bulk items. */
export function problemOf(...errors: readonly (AutoApiError | null | undefined)[]): string | undefined {
  const error = errors.find(error => error)
  if (!error)
    return undefined
  const items = error.errors.map(({ id, index, message }) => `${id ?? `item ${index}`}: ${message}`)
  return [error.status === 0 ? 'No response' : `${error.status}: ${error.message}`, ...items].join(' · ')
}
