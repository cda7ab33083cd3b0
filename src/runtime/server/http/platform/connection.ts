/**
 * The connection of Node's response. A client that has all bytes of a response can send its next request before the server has ended that
 * response. The next response has no connection until it is its turn, and Node 20 does not tell it when the client leaves before.
 */
import { createAttached } from '../../core/process/request-scoped'
import type { NodeResponse } from './contract'

export interface Connection {
  readonly remoteAddress?: string
  readonly destroyed?: boolean
  readonly once?: (name: 'close', listen: () => void) => unknown
}

interface NodeObjects {
  readonly req?: { readonly socket?: Connection }
  readonly res?: NodeResponse
}

/** Returns Node's response. An object that stands in for it has no connection, and its request one that stands in for one. */
export function findNodeResponse<Node extends NodeObjects>({ req, res }: Node): Node['res'] {
  return res && (res.socket || res.destroyed || realSocket(req)) ? res : undefined
}

/** Runs `listen` when the client has left, or has the whole response. It can run twice. */
export function onClose(response: NodeResponse, { req }: NodeObjects, listen: () => void): void {
  response.once('close', listen)
  const socket = response.socket ? undefined : realSocket(req)
  if (!socket) return
  if (socket.destroyed) listen()
  const waiting = waitingOn(socket)
  waiting.add(listen)
  response.once('close', () => waiting.delete(listen))
}

/** What runs when a connection closes. */
const listeners = createAttached<Set<() => void>>('waiting')

/** One listener for a connection, because Node warns of many, and a client decides how many requests it sends ahead. */
function waitingOn(socket: Connection): Set<() => void> {
  const known = listeners.get(socket)
  if (known) return known
  const waiting = new Set<() => void>()
  listeners.set(socket, waiting)
  socket.once?.('close', () => {
    for (const listen of waiting) listen()
  })
  return waiting
}

const realSocket = (request: NodeObjects['req']) => request?.socket && !('__unenv__' in request.socket) ? request.socket : undefined
