/** Sends one request to a receiver. It follows no redirect, waits for a limited time and reads a limited answer. */
import { type Message, RefusedAddress, type SendRules, type Transport } from './transport'
import { urlProblem } from './url'

export interface Sent {
  /** The status of the answer. It is absent if there was none. */
  readonly status?: number
  /** The beginning of the answer. */
  readonly body?: string
  /** Why there was no answer, or why it counts as failed. */
  readonly error?: string
  /** No further attempt can succeed. */
  readonly isFinal?: true
}

/** The characters of an answer that are kept. */
const MAX_KEPT = 1024

const isNode = () => typeof process === 'object' && process.versions?.node !== undefined
  && (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent !== 'Cloudflare-Workers'

let loaded: Promise<Transport> | undefined

/** Node connects to the address that was checked. On workers, the platform keeps requests out of private networks. */
const findTransport = () => loaded ??= isNode()
  ? import('./send-node').then(({ sendNode }) => sendNode)
  : import('./send-fetch').then(({ sendFetch }) => sendFetch)

export async function send(message: Message, rules: SendRules): Promise<Sent> {
  const problem = urlProblem(message.url, rules)
  if (problem) return { error: `The URL ${problem}`, isFinal: true }
  const controller = new AbortController()
  const late = new Error(`The receiver did not answer within ${rules.timeout} seconds.`)
  const timer = setTimeout(() => controller.abort(late), rules.timeout * 1000)
  try {
    const transport = await findTransport()
    const { status, body } = await transport(message, rules, controller.signal)
    const error = status >= 200 && status < 300 ? undefined : `The receiver answered with the status ${status}.`
    return { status, body: toText(body), ...error && { error } }
  }
  catch (error) {
    if (error instanceof RefusedAddress) return { error: error.message, isFinal: true }
    return { error: controller.signal.aborted ? late.message : describe(error) }
  }
  finally {
    clearTimeout(timer)
  }
}

/** Databases refuse NUL in text. */
const toText = (body: string) => body.slice(0, MAX_KEPT).replaceAll('\0', '')

/** The codes of Node, such as `ECONNREFUSED`, and nothing that names addresses of this network. */
function describe(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown, readonly cause?: { readonly code?: unknown } }
  const known = [code, cause?.code].find(one => typeof one === 'string' && /^[A-Z][A-Z\d_]{2,60}$/.test(one))
  return `The receiver could not be reached${known ? ` (${String(known)})` : ''}.`
}
