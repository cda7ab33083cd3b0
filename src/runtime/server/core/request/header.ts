/** Checks the response headers that apps and plugins set. */

/**
 * Some servers convert the headers only when they send the response. There, nothing could handle the error of an invalid header.
 * @throws TypeError if an HTTP server would refuse the header.
 */
export function assertHeader(name: unknown, value: unknown, where: string): void {
  if (typeof name === 'string' && NAME.test(name) && typeof value === 'string' && VALUE.test(value)) return
  throw new TypeError(`[auto-api] ${where}: the header ${JSON.stringify(name)} has an invalid name or value.`)
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/
/** Text beyond Latin-1 needs an encoding, such as `filename*=UTF-8''…`. */
const VALUE = /^[\t\x20-\x7E\x80-\xFF]*$/
