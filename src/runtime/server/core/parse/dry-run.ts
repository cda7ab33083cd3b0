/** Dry runs: a write with all its checks, which the database rolls back at the end. */
import type { ApiRequest } from '../request/api-request'
import { ApiError, invalidValue, quote } from '../error'
import { flag } from './params'
import { canWrite, isDryRun, preferredEnd } from '../request/prefer'

/** Refuses a request that does not say clearly whether it is a dry run, because it would otherwise write. @throws 400 */
export function assertDryRun(request: ApiRequest): void {
  if (!canWrite(request)) return
  flag(request.query, 'dryRun')
  const end = preferredEnd(request)
  if (end !== undefined && end !== 'rollback' && end !== 'commit')
    throw invalidValue('Prefer', `\`tx\` is rollback or commit, not ${quote(end)}.`)
}

/** Refuses a dry run of a handler that does not support it. Its own query can have a parameter `dryRun` of another form. @throws 400 */
export function assertNoDryRun(request: ApiRequest): void {
  if (isDryRun(request)) throw new ApiError('DRY_RUN_UNSUPPORTED', 'This route has no dry run. Nothing was done.')
}

/** The headers of the response of a dry run: `Preference-Applied`, if the header `Prefer` asked for it. */
export function dryRunHeaders(request: ApiRequest): Readonly<Record<string, string>> {
  return preferredEnd(request) === 'rollback' ? { 'Preference-Applied': 'tx=rollback' } : {}
}
