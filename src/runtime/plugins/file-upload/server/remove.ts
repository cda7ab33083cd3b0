/** `DELETE /:resource/:id/files/:field[/:key]`: removes files from the record by an ordinary update, then from the storage. */
import { notFound } from '../../../server/kit/errors'
import type { RouteRequest } from '../../../server/kit/request'
import type { PluginRoute } from '../../../server/plugin/contract'
import type { AutoApiContext } from '../../../server/kit/call'
import { canWriteField, describeRemove } from '../describe'
import type { FileField } from '../options'
import { filesOf } from './record/stored-file'
import type { FileService } from './service'

export function removeRoutes(field: FileField, service: () => FileService): PluginRoute[] {
  return ['', '/:key'].map(end => ({
    name: `remove ${field.resource}.${field.field}${end}`,
    method: 'DELETE',
    path: `/:resource/:id/files/${field.field}${end}`,
    resources: [field.resource],
    operation: 'update',
    parameters: [],
    describe: describeRemove(field, end),
    documentedFor: canWriteField(field),
    handler: (ctx, request) => remove(field, service(), ctx, request),
  }))
}

async function remove(field: FileField, service: FileService, ctx: AutoApiContext, request: RouteRequest): Promise<unknown> {
  const { resource, field: name, multiple } = field
  const { id, key } = ctx.params as { readonly id: string, readonly key?: string }
  const update = await service.authorizeUpdate(ctx, resource, id, [name], request)
  return update.write((stored) => {
    const files = filesOf(stored[name])
    const rest = key === undefined ? [] : files.filter(file => file.key !== key)
    if (rest.length === files.length) throw notFound()
    return { [name]: service.toColumn(field, multiple ? rest : null) }
  }, {
    onCommitted: (before, after) => service.removeUnnamed(field, ctx, filesOf(before[name]), filesOf(after[name])),
  })
}
