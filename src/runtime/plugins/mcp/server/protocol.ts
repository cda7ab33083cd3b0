/** The messages of the Model Context Protocol, over one HTTP request each (the transport "Streamable HTTP", without streams). */
import { z } from 'zod'
import { type ApiRequest, assertDepth } from '../../../server/kit/request'
import { invalidBody, invalidValue } from '../../../server/kit/errors'
import type { ApiResponse } from '../../../server/kit/respond'

/** The newest version comes first. Earlier versions have batches of messages or another transport. */
const VERSIONS = ['2025-11-25', '2025-06-18']

/** A message of a client. Without `id`, it is a notification, which has no result. */
export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

const MESSAGE = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
})

/** @throws 400 for a body that is no message of the protocol. */
export async function readMessage(request: ApiRequest): Promise<Message> {
  const body = await request.body()
  assertDepth(body)
  const { success, data } = MESSAGE.safeParse(body)
  if (!success) throw invalidBody('The body is not one message of JSON-RPC 2.0.')
  return data
}

/** Uses the version of the client. If the server does not have it, the client decides whether it accepts the newest one of the server. */
export const chooseVersion = (requested: unknown): string => VERSIONS.find(version => version === requested) ?? VERSIONS[0]!

/** @throws 400 for a version that the server has not offered. */
export function assertVersion(header: string | undefined): void {
  if (header !== undefined && !VERSIONS.includes(header))
    throw invalidValue('MCP-Protocol-Version', `use one of ${VERSIONS.join(', ')}.`)
}

export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602

export const success = ({ id }: Message, result: object): ApiResponse => ({ status: 200, body: { jsonrpc: '2.0', id, result } })

/** An error of the protocol. Errors of a tool are results instead, so that the language model can correct its call. */
export const failure = ({ id }: Message, code: number, message: string): ApiResponse =>
  ({ status: 200, body: { jsonrpc: '2.0', id, error: { code, message } } })

/** The response to a message without `id`. */
export const ACCEPTED: ApiResponse = { status: 202, body: null }
