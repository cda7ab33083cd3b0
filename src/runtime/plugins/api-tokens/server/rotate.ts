/** `POST /:resource/:id/rotate`: replaces the secret of a token. The old secret stays valid for some seconds. */
import { notFound } from '../../../server/kit/errors'
import type { PluginRoute } from '../../../server/plugin/contract'
import { objectOf, text } from '../../../server/plugin/description'
import { isOwn as isOwnRow } from '../../../server/plugin/owned-rows'
import { assertNotExpired, createSecret, makerOf, type ManageOptions } from './manage'
import type { TokenRow } from './row'
import { assertWithin } from './rules'

/** The name of the route that rotates a token. */
export const ROTATE = 'token-rotate'

export function rotateRoute({ policy, format, issued, access, update, toTokenId, findUser }: ManageOptions): PluginRoute {
  const { resource, grace } = policy
  return {
    name: ROTATE,
    method: 'POST',
    path: '/:resource/:id/rotate',
    resources: [resource],
    operation: 'update',
    parameters: [],
    // The stored response has no secret, because the plugin adds it after every other one.
    idempotent: true,
    describe: ({ record }) => ({
      summary: 'Replace the secret of a token',
      description: 'The response is the record, with the new secret once.',
      headers: { 'If-Match': { description: 'The entity tag of the record that the write expects.' } },
      responses: { 200: { schema: { allOf: [record, objectOf({ token: text, tokenAlreadyIssued: { type: 'boolean' } }, [])] } } },
    }),
    async handler(ctx) {
      const row = await access().find(ctx.event, ['id'], toTokenId(ctx.params.id!)) as TokenRow | undefined
      // The update checks all rules of the row again. Before it, the response must not show that a token of somebody else exists.
      const isOwn = row !== undefined && !row.deletedAt && isOwnRow(row, ctx)
      if (!isOwn) throw notFound()
      assertNotExpired(row)
      await assertWithin(row, await makerOf(ctx, findUser()))
      const { token, columns } = await createSecret(format)
      issued.beginRotation(ctx, row)
      const record = await update()(ctx, resource, row.id, {
        ...columns,
        previousHash: grace > 0 ? row.tokenHash : null,
        previousUntil: grace > 0 ? new Date(Date.now() + grace * 1000) : null,
      })
      issued.add(ctx, token)
      return record
    },
  }
}
