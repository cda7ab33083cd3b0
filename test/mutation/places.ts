/**
 * Places of the code that published vulnerabilities are about, one group for each root cause of `test/scenarios/cves`. Their mutation tests
 * change these places only: `npm run test:mutation -- cves` reports which cases notice each change.
 */
import type { Cause } from '../scenarios/cves/case.ts'

export interface Place {
  readonly cause: Cause
  /** Relative to `src/runtime`. */
  readonly file: string
  /** The code that is changed. The file contains it once. */
  readonly code: string
}

const of = (cause: Cause, ...places: readonly (readonly [file: string, code: string])[]): readonly Place[] =>
  places.map(([file, code]) => ({ cause, file, code }))

export const PLACES: readonly Place[] = [
  ...of(
    'an entry without the rules of the others',
    ['server/core/access/fields.ts', 'field => !resource.hidden.has(field.name) && !refused.has(field.name)'],
    ['server/core/access/related.ts', 'where: [...plan.where, ...plan.scope]'],
    ['server/core/access/row-rules.ts', 'return [trash === \'trashed\' ? isNotNull(field) : isNull(field)]'],
    ['server/core/access/row-rules.ts', 'tenant.all ? [] :'],
    ['plugins/live/server/scopes.ts', 'await authorize(call, resource, [\'read\'])'],
  ),
  ...of(
    'a value becomes code',
    ['server/core/plan/filter.ts', 'text.replace(/[\\\\%_]/g, character => `\\\\${character}`)'],
    ['server/core/parse/filter.ts', 'if (wrong.length > 0) throw'],
    ['plugins/data-export/server/csv.ts', 'return FORMULA.test(text) ? `\'${text}` : text'],
    ['server/core/access/fields.ts', 'if (!field) throw unknownField('],
  ),
  ...of(
    'a check before the change, none after it',
    ['server/core/access/fields.ts', 'return names.filter(name => refused.has(name))'],
    ['server/core/parse/body.ts', 'else if (!resource.dropped[kind].has(key)) kept.push(key)'],
    ['server/core/write/references.ts', 'if (!isChecked?.(checked.key)) return checkForeignKey(plan, checked, items, call, when)'],
    ['server/core/write/tags.ts', 'if (record && hasRevision(item.ifMatch!, record))'],
  ),
  ...of(
    'an identity from the request',
    ['plugins/api-tokens/server/authenticate.ts', 'if (isIn(path ?? \'\') || texts.some(isIn))'],
    ['plugins/api-tokens/server/authenticate.ts', 'if (!owner) return undefined'],
    ['plugins/api-tokens/server/authenticate.ts', 'scopes === null || secret === \'previous\' ? [resource] : []'],
    ['server/core/access/authorize.ts', 'if (limits?.scopes) return'],
    ['plugins/rate-limit/index.ts', 'if (hit.count > limit.limit)'],
  ),
  ...of(
    'no limit',
    ['server/core/plan/filter.ts', 'if (depth > maxDepth) throw'],
    ['server/core/plan/include.ts', 'if (tree.size > 0 && depth > maxDepth) throw'],
    ['server/core/parse/params.ts', 'if (texts.length > LIMITS.sort) throw'],
    ['server/core/parse/params.ts', 'return Math.min(wholeNumber(query, \'limit\') ?? defaultLimit, maxLimit)'],
    ['server/core/plan/filter.ts', 'if (values.length > LIMITS.in) throw'],
  ),
  ...of(
    'open by default',
    ['server/core/access/authorize.ts', 'if (!resource.auth || resource.disabled.has(operation)) return false'],
  ),
  ...of('two readings of one path', ['server/http/url.ts', 'const sent = split(path).slice(-judged.length)']),
  ...of(
    'requests of the server',
    ['plugins/webhooks/server/address.ts', 'if (address.range() !== \'unicast\' || METADATA.has(address.toString())) return false'],
    ['plugins/webhooks/server/url.ts', 'if (!protocols.includes(protocol)) return'],
    ['plugins/webhooks/server/url.ts', 'address === undefined ? LOCAL_NAME.test(hostname) : !isPublicAddress(address)'],
  ),
  ...of(
    'files',
    ['plugins/file-upload/content/identify.ts', 'typesOfContent(head).filter(type => accepted.includes(type))'],
    ['plugins/file-upload/content/receive.ts', 'if (size.width * size.height <= maxPixels) return'],
    ['plugins/file-upload/server/serve.ts', 'for (const [name, value] of Object.entries(SAFETY)) request.setHeader(name, value)'],
  ),
  ...of('shared caches and instances', ['plugins/response-cache/server/key.ts', 'const values = [user, permissions, tenant, credential, limits && toPlain(limits)]']),
  ...of('prototype pollution', ['shared/operators.ts', 'Object.hasOwn(OPERATORS, name)']),
  ...of(
    'other sites',
    ['server/core/request/csrf.ts', 'if (!isForeign) return'],
    ['server/core/request/csrf.ts', '(origin !== undefined && !isOwnOrigin(origin, findHost(request, trustProxy)))'],
  ),
  ...of('errors and oracles', ['server/core/error.ts', 'const message = `\\`${place(at)}\\` names an unknown field: ${quote(field)}.${didYouMean(field, [...known])}`']),
]

/** The place as Stryker names it: `file:line:column-line:column`. Lines count from 1, columns from 0. */
export function toRange({ file, code }: Place, text: string): string {
  const start = text.indexOf(code)
  if (start === -1 || text.includes(code, start + 1)) throw new Error(`${file} does not contain this code once: ${code}`)
  const at = (index: number) => {
    const lines = text.slice(0, index).split('\n')
    return `${lines.length}:${lines.at(-1)!.length}`
  }
  return `src/runtime/${file}:${at(start)}-${at(start + code.length)}`
}
