/** The names of operations and components. They depend only on the names of resources and routes, so they are the same for every caller. */
import type { JsonSchema } from '../../../../shared/types/description'
import { toName } from '../../../../server/plugin/description'

type SchemaKind = 'read' | 'create' | 'update' | 'filter' | 'aggregate'

/** The name of a schema of a resource: `posts` is a record in the response of a write, `posts.read` a record that a read returns. */
export const schemaName = (resource: string, kind?: SchemaKind) => kind === undefined ? toName(resource) : `${toName(resource)}.${kind}`

export const refTo = (name: string): JsonSchema & { readonly $ref: string } => ({ $ref: `#/components/schemas/${name}` })

export const refOf = (resource: string, kind?: SchemaKind) => refTo(schemaName(resource, kind))

/** `/posts/:id` → `/posts/{id}` */
export const toTemplate = (path: string) => path.replace(/:(\w+)/g, '{$1}')
