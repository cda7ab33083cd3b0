/**
 * Adds the secret of a new token to the response, once. It is added after every other plugin, so that a cache, an audit log and a stored
 * response never contain it.
 */
import type { ResponseListener } from '../../../server/kit/listen'
import type { AutoApiContext } from '../../../server/kit/call'
import type { TokenRow } from './row'
import { createAttached } from '../../../server/kit/process'

/** The name of the route that rotates a token. */
export const ROTATE = 'token-rotate'

export interface IssuedTokens {
  /** Remembers the secret of a row that a hook prepares. */
  readonly prepare: (ctx: AutoApiContext, token: string) => void
  /** The row was written. */
  readonly confirm: (ctx: AutoApiContext) => void
  /** Marks the next update of a request as the rotation of a row that was read. */
  readonly beginRotation: (ctx: AutoApiContext, row: TokenRow) => void
  /** Returns the row if this update is the rotation of the request. Further updates of the request are not. */
  readonly takeRotation: (ctx: AutoApiContext) => TokenRow | undefined
  /** The secret of a row that is written without hooks for a create. */
  readonly add: (ctx: AutoApiContext, token: string) => void
  readonly onResponse: ResponseListener
}

type Body = Readonly<Record<string, unknown>>

interface Issued {
  readonly token: string | undefined
  readonly isReplay: boolean
}

export function createIssuedTokens(resource: string): IssuedTokens {
  /** The secrets by the context of the item. Both hooks of an item receive the same context. */
  const prepared = createAttached<string>('prepared secret')
  /** The secrets of written rows by event, in the order of the records of the response. */
  const written = createAttached<string[] | undefined>('written secrets')
  const rotations = createAttached<TokenRow | undefined>('rotation')

  const add = ({ event }: AutoApiContext, token: string) => {
    const tokens = written.get(event)
    if (tokens) tokens.push(token)
    else written.set(event as object, [token])
  }
  /** A record without a secret comes from a stored response, whose first response had the secret, or from a dry run. */
  const withToken = (record: Body, { token, isReplay }: Issued) =>
    token !== undefined ? { ...record, token } : isReplay ? { ...record, tokenAlreadyIssued: true } : record

  /** Adds the secrets to the response of each route that makes them. */
  const routes: Readonly<Record<string, (body: Body, tokens: readonly string[], isReplay: boolean) => Body>> = {
    'create': (body, [token], isReplay) => withToken(body, { token, isReplay }),
    [ROTATE]: (body, [token], isReplay) => withToken(body, { token, isReplay }),
    'bulk-create': (body, tokens, isReplay) => ({
      ...body,
      data: (body.data as readonly Body[]).map((record, index) => withToken(record, { token: tokens[index], isReplay })),
    }),
  }

  return {
    prepare: (ctx, token) => void prepared.set(ctx, token),
    confirm(ctx) {
      const token = prepared.get(ctx)
      if (token !== undefined) add(ctx, token)
    },
    add,
    beginRotation: (ctx, row) => void rotations.set(ctx.event as object, row),
    takeRotation(ctx) {
      const row = rotations.get(ctx.event)
      if (row) rotations.set(ctx.event as object, undefined)
      return row
    },
    onResponse(ctx, response, { route }) {
      const addTo = ctx.resource === resource && Object.hasOwn(routes, route) ? routes[route] : undefined
      if (!addTo) return response
      const tokens = written.get(ctx.event) ?? []
      written.set(ctx.event as object, undefined)
      const isReplay = Object.keys(response.headers ?? {}).some(name => name.toLowerCase() === 'idempotent-replayed')
      const body = addTo(response.body as Body, tokens, isReplay)
      return { ...response, body, headers: { ...response.headers, 'cache-control': 'no-store' } }
    },
  }
}
