/** Decides whether the response to a spelling is one that the plain spelling justifies. */
import type { RawResponse } from './raw'

/** What a request did: the response, and the changes of the database as text. */
export interface Outcome {
  readonly target: string
  readonly answer: RawResponse
  readonly effects: string
}

export const NO_EFFECTS = 'none'

/** Headers that differ between equal requests. */
const VARYING: ReadonlySet<string> = new Set([
  'connection', 'content-length', 'date', 'keep-alive', 'location', 'server-timing', 'set-cookie', 'transfer-encoding', 'x-request-id',
])

/** Refusals of the HTTP server itself: a method or a version that it does not know. */
const NOT_IMPLEMENTED: ReadonlySet<number> = new Set([501, 505])

/** Replaces what differs between equal requests: times, ids of new rows, and titles that each request writes anew. */
const mask = (text: string): string => text
  .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '<uuid>')
  .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{13}\b/g, '<time>')
  .replace(/Title \d+/g, '<title>')

const isHtml = ({ headers }: RawResponse) => headers.get('content-type')?.includes('html') ?? false

const titleOf = (html: string) => /<title>(.*?)<\/title>/s.exec(html)?.[1] ?? ''

/** What a page shows. Its scripts contain the path as it was sent. */
function shown(html: string): string {
  const body = html.slice(html.indexOf('<body')).replace(/<(script|style)\b.*?<\/\1>/gs, '')
  return `${titleOf(html)}\n${body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')}`
}

function bodyOf(answer: RawResponse, isWrite: boolean): string {
  if (isHtml(answer)) return shown(answer.text)
  // How much of a stream has arrived depends on the time.
  if (answer.headers.get('content-type')?.includes('event-stream')) return ''
  const text = mask(answer.text)
  return isWrite ? text.replace(/"id":\s*\d+/g, '"id":<id>') : text
}

const headersOf = ({ headers }: RawResponse, isWrite: boolean) =>
  [...headers].filter(([name]) => !VARYING.has(name) && !(isWrite && name === 'etag'))
    .map(([name, value]) => `${name}: ${mask(value)}`).sort().join('\n')

const isSame = (plain: Outcome, other: Outcome, isWrite: boolean) =>
  plain.answer.status === other.answer.status && mask(plain.effects) === mask(other.effects)
  && headersOf(plain.answer, isWrite) === headersOf(other.answer, isWrite)
  && bodyOf(plain.answer, isWrite) === bodyOf(other.answer, isWrite)

/** The texts by which the response of a path is recognized: the title of a page, or long values. */
export function marksOf({ text, headers, status }: RawResponse): string[] {
  if (status >= 300) return []
  if (headers.get('content-type')?.includes('html')) return [`<title>${titleOf(text)}</title>`]
  return [...new Set(text.match(/(?<=["\n,])[^"\n,{}[\]]{16,80}(?=["\n,]|$)/g))].slice(0, 40)
}

/**
 * Nuxt fails, before it renders a page, for a path that begins like a host but has the name of none: `//api%20/`. Workers fail for a target
 * without a slash at the start, before the app has it.
 */
const isNoUrl = (target: string) => /^(?:[^/]|[/\\]{2})/.test(target)

/** Returns what is wrong with a response that should show and change nothing. */
export function findTouch({ target, answer, effects }: Outcome, marks: readonly string[], origin: string): string | undefined {
  const { status, headers, text } = answer
  if (effects !== NO_EFFECTS) return `changes ${effects}`
  if (status >= 500 && !NOT_IMPLEMENTED.has(status) && !(isNoUrl(target) && !headers.has('x-served'))) return `${status}: ${text.slice(0, 200)}`
  const mark = marks.find(mark => text.includes(mark))
  if (mark !== undefined) return `${status}, with ${mark}`
  const location = headers.get('location')
  if (location !== undefined && new URL(location, origin).origin !== origin) return `redirects to ${location}`
  // The header is also part of refusals: the resource is known before the caller.
  return status >= 200 && status < 300 && headers.has('x-served') ? `${status}, of ${headers.get('x-served')}` : undefined
}

export interface Expected {
  readonly plain: Outcome
  /** The response of the path that the spelling is by the rules of URLs, if this is another path. */
  readonly resolved?: Outcome
  readonly marks: readonly string[]
  readonly origin: string
  readonly isWrite: boolean
}

/** Returns what is wrong with a response: it is not that of the plain spelling, and it shows or changes something. */
export function findProblem(outcome: Outcome, { plain, resolved, marks, origin, isWrite }: Expected): string | undefined {
  const isKnown = [plain, resolved].some(known => known !== undefined && isSame(known, outcome, isWrite))
  if (isKnown) return undefined
  const touch = findTouch(outcome, marks, origin)
  if (touch === undefined) return undefined
  const differs = outcome.answer.status === plain.answer.status
    ? ['headers', headersOf(plain.answer, isWrite), headersOf(outcome.answer, isWrite)].join(' ')
    : `not ${plain.answer.status}`
  return `${touch} (${differs})`.slice(0, 600)
}
