/** Reads the preference of a client about the transaction of its write: `?dryRun=true`, or the header `Prefer: tx=rollback` (RFC 7240). */

interface SentRequest {
  readonly method: string
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly header: (name: string) => string | undefined
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request with this method can write. */
export const canWrite = ({ method }: Pick<SentRequest, 'method'>) => !SAFE.has(method)

/** Whether the request asks for a dry run. `assertDryRun` refuses values that are neither true nor false. */
export function isDryRun(request: SentRequest): boolean {
  return canWrite(request) && ([request.query.dryRun].flat().includes('true') || preferredEnd(request) === 'rollback')
}

/**
 * Returns the value of `tx` in `Prefer: return=minimal, tx="rollback"; note=1`. If the header has several, the first one counts, as RFC
 * 7240 says.
 */
export function preferredEnd({ header }: Pick<SentRequest, 'header'>): string | undefined {
  const prefer = header('prefer')
  if (prefer === undefined) return undefined
  for (const [, name, quoted, token] of prefer.matchAll(PREFERENCE)) if (name!.toLowerCase() === 'tx') return quoted ?? token ?? ''
  return undefined
}

/** A preference at the start of the header or after a comma: a name, a value in quotes or without, and parameters. */
const PREFERENCE = /(?:^|,)[ \t]*([\w!#$%&'*+.^`|~-]+)(?:[ \t]*=[ \t]*(?:"([^"]*)"|([^\s,;"]+)))?(?:[ \t]*;(?:[^,"]|"[^"]*")*)?/g
