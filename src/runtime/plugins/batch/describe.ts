/** Describes the route for the OpenAPI document. */
import type { RouteDescription } from '../../shared/types/openapi'
import { objectOf, text, whole } from '../../server/plugin/description'

const ID = { type: ['string', 'integer', 'object'], description: 'The id, or `{ "$ref": "name.field" }`.' }

const STEP = objectOf({
  resource: text,
  operation: { type: 'string', enum: ['create', 'update', 'delete', 'restore'] },
  id: ID,
  data: { type: 'object', description: 'The body of the request that does the same. A value can be `{ "$ref": "name.field" }`.' },
  ifMatch: text,
  as: { type: 'string', description: 'The name by which later steps refer to the record.' },
}, ['resource', 'operation'])

export const describeBatch = (maxSteps: number): RouteDescription => ({
  summary: 'Several writes in one commit',
  description: 'All steps take effect, or none. A step that fails is named in `errors` of the error.',
  body: objectOf({ steps: { type: 'array', minItems: 1, maxItems: maxSteps, items: STEP } }, ['steps']),
  responses: {
    200: { schema: objectOf({ data: { type: 'array', items: { type: 'object' } }, meta: objectOf({ steps: whole }) }) },
  },
  errors: { BULK_FAILED: 400 },
})
