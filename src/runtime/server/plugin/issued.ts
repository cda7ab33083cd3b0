/**
 * Adds the secret of a new record to the response, once. It is added after every other plugin, so that a cache, an audit log and a stored
 * response never contain it.
 */
import type { ResponseListener } from '../core/extensions/listeners'
import { createAttached } from '../core/process/request-scoped'
import type { AutoApiContext } from '../registration'

export interface IssuedOptions {
  readonly resource: string
  /** The key of the secret in the response, such as `token`. A response that is sent again has `tokenAlreadyIssued` instead. */
  readonly key: string
  /** The name of the route that replaces the secret of a record. */
  readonly rotate: string
}

export interface IssuedSecrets<Row> {
  /** Remembers the secret of a row that a hook prepares. */
  readonly prepare: (ctx: AutoApiContext, secret: string) => void
  /** The row was written. */
  readonly confirm: (ctx: AutoApiContext) => void
  /** Marks the next update of a request as the rotation of a row that was read. */
  readonly beginRotation: (ctx: AutoApiContext, row: Row) => void
  /** Returns the row if this update is the rotation of the request. Further updates of the request are not. */
  readonly takeRotation: (ctx: AutoApiContext) => Row | undefined
  /** The secret of a row that is written without hooks for a create. */
  readonly add: (ctx: AutoApiContext, secret: string) => void
  readonly onResponse: ResponseListener
}

type Body = Readonly<Record<string, unknown>>

interface Issued {
  readonly secret: string | undefined
  readonly isReplay: boolean
}

export function createIssuedSecrets<Row>({ resource, key, rotate }: IssuedOptions): IssuedSecrets<Row> {
  /** The secrets by the context of the item. Both hooks of an item receive the same context. */
  const prepared = createAttached<string>('prepared secret')
  /** The secrets of written rows by event, in the order of the records of the response. */
  const written = createAttached<string[] | undefined>('written secrets')
  const rotations = createAttached<Row | undefined>('rotation')

  const add = ({ event }: AutoApiContext, secret: string) => {
    const secrets = written.get(event)
    if (secrets) secrets.push(secret)
    else written.set(event as object, [secret])
  }
  /** A record without a secret comes from a stored response, whose first response had the secret, or from a dry run. */
  const withSecret = (record: Body, { secret, isReplay }: Issued) =>
    secret !== undefined ? { ...record, [key]: secret } : isReplay ? { ...record, [`${key}AlreadyIssued`]: true } : record

  /** Adds the secrets to the response of each route that makes them. */
  const routes: Readonly<Record<string, (body: Body, secrets: readonly string[], isReplay: boolean) => Body>> = {
    'create': (body, [secret], isReplay) => withSecret(body, { secret, isReplay }),
    [rotate]: (body, [secret], isReplay) => withSecret(body, { secret, isReplay }),
    'bulk-create': (body, secrets, isReplay) => ({
      ...body,
      data: (body.data as readonly Body[]).map((record, index) => withSecret(record, { secret: secrets[index], isReplay })),
    }),
  }

  return {
    prepare: (ctx, secret) => void prepared.set(ctx, secret),
    confirm(ctx) {
      const secret = prepared.get(ctx)
      if (secret !== undefined) add(ctx, secret)
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
      const secrets = written.get(ctx.event) ?? []
      written.set(ctx.event as object, undefined)
      const isReplay = Object.keys(response.headers ?? {}).some(name => name.toLowerCase() === 'idempotent-replayed')
      const body = addTo(response.body as Body, secrets, isReplay)
      return { ...response, body, headers: { ...response.headers, 'cache-control': 'no-store' } }
    },
  }
}
