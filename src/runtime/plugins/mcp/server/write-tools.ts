/** The tools that write: `create`, `update`, `delete`, `restore`. They exist only with the option `write`. */
import { z } from 'zod'
import { assertUsableChildren } from './children'
import { deleteRecord } from './delete-record'
import { writtenResult } from './result'
import { defineTool, recordId, requireToolResource, resourceName, sendAs, type Tool } from './tool'

const values = z.record(z.string(), z.unknown())
const CHILDREN = 'Relations with `nested` take children: `{"lines":{"create":[{…}],"update":[{"id":1,"data":{…}}],"delete":[2]}}`.'
const onConflict = z.array(z.string().min(1).max(200)).min(1).max(100).optional()
  .describe('The fields of a unique constraint. A record that has the same values there is updated, and none is created.')
const ifMatch = z.string().min(1).max(1000).optional()
  .describe('`etag` of the record as you read it. If the record has changed since, nothing is written.')
const idempotencyKey = z.string().min(1).max(255).optional()
  .describe('Any text that is new for each write. If you send the same write with the same key again, it takes effect once.')

/** @param hasKeys whether the app stores idempotency keys. Without them, the tools have no such argument. */
export function createWriteTools(hasKeys: boolean): readonly Tool[] {
  const shape = { ...hasKeys && { idempotencyKey } } as { readonly idempotencyKey?: typeof idempotencyKey }
  const strict = <Shape extends z.core.$ZodLooseShape>(own: Shape) =>
    z.strictObject({ ...own, ...shape }) as unknown as z.ZodType<z.output<z.ZodObject<Shape>> & { readonly idempotencyKey?: string }>

  const create = defineTool({
    name: 'create',
    title: 'Create a record',
    description: 'Creates one record. `describe` returns the schema of its values.',
    input: strict({ resource: resourceName, values: values.describe(`The values by field. ${CHILDREN}`), onConflict }),
    needs: 'canCreate',
    // With `onConflict` it changes a record.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    async run({ resource, values, onConflict, idempotencyKey }, call) {
      assertUsableChildren(values, requireToolResource(call, resource), call)
      const headers = { 'idempotency-key': idempotencyKey }
      const query = { onConflict: onConflict?.join(',') }
      const response = await sendAs({ resource, method: 'POST', query, body: values, headers }, call)
      return writtenResult(response, call, onConflict && { created: response.status === 201 })
    },
  })

  const update = defineTool({
    name: 'update',
    title: 'Update a record',
    description: 'Changes the given fields of one record.',
    input: strict({ resource: resourceName, id: recordId, values: values.describe(`The new values by field. ${CHILDREN}`), ifMatch }),
    needs: 'canUpdate',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    async run({ resource, id, values, ifMatch, idempotencyKey }, call) {
      assertUsableChildren(values, requireToolResource(call, resource), call)
      const headers = { 'if-match': ifMatch, 'idempotency-key': idempotencyKey }
      return writtenResult(await sendAs({ resource, id, method: 'PATCH', body: values, headers }, call), call)
    },
  })

  const remove = defineTool({
    name: 'delete',
    title: 'Delete a record',
    description: 'Without `confirm`, deletes nothing: returns how many records of each resource would be deleted, and `confirm`. '
      + 'Call it again with this `confirm` to delete them.',
    input: strict({
      resource: resourceName,
      id: recordId,
      confirm: z.string().min(1).max(100).optional().describe('`confirm` of the preview.'),
      reason: z.string().min(1).max(1000).optional().describe('Why the record is deleted, for the trash and the audit log.'),
      ifMatch,
    }),
    needs: 'canDelete',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    run: deleteRecord,
  })

  const restore = defineTool({
    name: 'restore',
    title: 'Restore a record',
    description: 'Restores one record from the trash, with the records that were deleted together with it.',
    input: strict({ resource: resourceName, id: recordId, ifMatch }),
    needs: 'canRestore',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    async run({ resource, id, ifMatch, idempotencyKey }, call) {
      const headers = { 'if-match': ifMatch, 'idempotency-key': idempotencyKey }
      return writtenResult(await sendAs({ resource, id, method: 'POST', end: '/restore', headers }, call), call)
    },
  })

  return [create, update, remove, restore]
}
