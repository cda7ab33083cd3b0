/** Checks the requests of webhooks, in an app that receives them. */
import { apiError } from '../core/request/custom-error'
import { createError } from '../http/platform/h3'
import { STATUS_TEXT } from '../../shared/error-codes'
import { isSigned } from '../../shared/standard-webhooks'

/** A request as it was received. The body is the text of the request, before anything has parsed it. */
export interface ReceivedWebhook {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string | undefined
}

export interface VerifyWebhookOptions {
  /**
   * Seconds by which the time of the request can differ from the time of this server.
   * @default 300
   */
  readonly tolerance?: number
}

/** What a webhook of this module sends. */
export interface WebhookPayload {
  /** Such as `posts.created`, or `webhook.test`. */
  readonly type: string
  /** The time of the change, as ISO 8601. */
  readonly timestamp: string
  readonly data: {
    readonly resource?: string
    readonly id?: string
    /** The record as the owner of the webhook can read it. It is absent if it is gone, or the owner can no longer read it. */
    readonly record?: Readonly<Record<string, unknown>>
  }
}

/** A webhook that was verified. */
export interface VerifiedWebhook<Payload = WebhookPayload> {
  /** The same for each attempt of a delivery. Remember it, to handle each delivery once. */
  readonly id: string
  readonly payload: Payload
}

/**
 * Verifies the signature and the time of a webhook, of this module or of any other sender of Standard Webhooks.
 * @param request the headers and the text of the request
 * @param secret the secret of the webhook, or several of them during a rotation
 * @throws 401 `INVALID_SIGNATURE` if it is not signed with one of the secrets, or it is too old. 400 `INVALID_BODY` if the body
 * is not JSON.
 * @example
 * export default defineEventHandler(async (event) => {
 *   const body = await readRawBody(event)
 *   const { id, payload } = await verifyWebhook({ headers: event.headers, body }, process.env.WEBHOOK_SECRET!)
 * })
 */
export async function verifyWebhook<Payload = WebhookPayload>(
  request: ReceivedWebhook, secret: string | readonly string[], { tolerance = 300 }: VerifyWebhookOptions = {},
): Promise<VerifiedWebhook<Payload>> {
  const { headers, body = '' } = request
  const read = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(read)
  if (!id || !timestamp || !signature || !/^\d{1,12}$/.test(timestamp)) throw invalidSignature()
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > tolerance) throw invalidSignature()
  const found = await Promise.all([secret].flat().map(one => isSigned(one, { id, timestamp, body }, signature)))
  if (!found.includes(true)) throw invalidSignature()
  return { id, payload: parse(body) as Payload }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  }
  catch {
    throw toHttp(apiError('INVALID_BODY', 'The body of the webhook is not JSON.'))
  }
}

const invalidSignature = () => toHttp(apiError('INVALID_SIGNATURE', 'The webhook is not signed with the secret, or it is too old.'))

/** A handler of the app throws it, so it is an error of h3: others are logged as mistakes of the app. */
const toHttp = ({ status, message, data }: ReturnType<typeof apiError>): Error =>
  createError({ status, statusText: STATUS_TEXT[status], message, data })
