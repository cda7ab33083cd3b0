/** What went wrong, for people: with what is wrong with each item of a batch. */
export function problemOf(...errors: readonly (AutoApiError | null | undefined)[]): string | undefined {
  const error = errors.find(error => error)
  if (!error)
    return undefined
  const items = error.errors.map(({ id, index, message }) => `${id ?? `item ${index}`}: ${message}`)
  return [error.status === 0 ? 'No answer' : `${error.status}: ${error.message}`, ...items].join(' · ')
}
