/** The tools that read: `list`, `get`, `aggregate`, `history`. */
import { z } from 'zod'
import { describeTool } from './describe'
import { readResult, recordResult } from './result'
import { defineTool, READS, recordId, resourceName, sendAs, type Tool } from './tool'

const names = z.array(z.string().min(1).max(200)).min(1).max(100)
const conditions = z.record(z.string(), z.unknown())
const filter = conditions.optional()
  .describe('Conditions by field: `{"status":"draft","views":{"$gt":10},"$or":[…]}`. `describe` lists the operators of each field, '
    + 'and in `combinations` the keys that combine conditions.')
const fields = names.optional().describe('The fields to return. Default: all that you can read.')
const include = z.union([names, conditions]).optional()
  .describe('Related records to return: names of relations, or an object with options: `{"comments":{"limit":5,"fields":["body"]}}`.')
const counts = names.optional()
  .describe('Relations to count. Each record gets `_count`: `{"comments":3}`. `describe` lists them as `countable`.')
const sort = names.optional()
  .describe('Fields to sort by. `-` before a name sorts downwards: `["-createdAt"]`. A list also sorts by a field of a to-one relation '
    + '(`author.name`) and by a number of related records (`comments.$count`).')
const groupSort = names.optional().describe('The order of the groups. `-` before a name sorts downwards: `["-count"]`.')
const trash = z.enum(['include', 'only']).optional().describe('Also returns records in the trash, or only these.')
const cursor = z.string().max(10_000).optional().describe('`nextCursor` of the page before.')

const SMALLER = 'Ask for a smaller `limit`.'

const toText = (value: readonly string[] | object | undefined) =>
  value === undefined ? undefined : Array.isArray(value) ? value.join(',') : JSON.stringify(value)
const trashQuery = (mode: 'include' | 'only' | undefined) =>
  mode === undefined ? {} : { [mode === 'only' ? 'onlyDeleted' : 'includeDeleted']: 'true' }

/** @param maxRows the maximum of `limit` */
export function createReadTools(maxRows: number): readonly Tool[] {
  const limit = z.int().min(1).max(maxRows).optional().describe(`How many to return. Default: ${Math.min(20, maxRows)}.`)
  const limitOf = (value: number | undefined) => String(value ?? Math.min(20, maxRows))

  const list = defineTool({
    name: 'list',
    title: 'List records',
    description: 'Returns a page of records of a resource: `data`, and `meta.nextCursor` for the next page. For totals, use `aggregate`.',
    input: z.strictObject({ resource: resourceName, filter, sort, fields, include, counts, limit, cursor, trash }),
    needs: 'canRead',
    annotations: READS,
    async run({ resource, filter, sort, fields, include, counts, limit, cursor = '', trash }, call) {
      const query = {
        filter: toText(filter), sort: toText(sort), fields: toText(fields), include: toText(include), counts: toText(counts),
        limit: limitOf(limit), cursor, ...trashQuery(trash),
      }
      const response = await sendAs({ resource, method: 'GET', query }, call)
      return readResult(response, call, 'Ask for a smaller `limit`, or fewer `fields` or relations.')
    },
  })

  const get = defineTool({
    name: 'get',
    title: 'Get a record',
    description: 'Returns one record, and its `etag` for `ifMatch` of an update.',
    input: z.strictObject({ resource: resourceName, id: recordId, fields, include, counts, trash }),
    needs: 'canRead',
    annotations: READS,
    async run({ resource, id, fields, include, counts, trash }, call) {
      const query = { fields: toText(fields), include: toText(include), counts: toText(counts), ...trashQuery(trash) }
      return recordResult(await sendAs({ resource, id, method: 'GET', query }, call), call)
    },
  })

  const aggregate = defineTool({
    name: 'aggregate',
    title: 'Aggregate records',
    description: 'Counts records, or computes sums, averages, minima and maxima, in groups if `groupBy` is given.',
    input: z.strictObject({
      resource: resourceName,
      functions: names.optional().describe('`count`, `sum(field)`, `avg(field)`, `min(field)`, `max(field)`. Default: `count`.'),
      groupBy: names.optional().describe('The fields whose values form the groups.'),
      filter,
      having: conditions.optional().describe('Conditions on the results: `{"count":{"$gt":5}}`, `{"sum_amount":{"$gt":100}}`.'),
      sort: groupSort,
      limit,
      page: z.int().min(1).max(1_000_000).optional().describe('The page of groups. The first one is 1.'),
      trash,
    }),
    needs: 'canAggregate',
    annotations: READS,
    async run({ resource, functions, groupBy, filter, having, sort, limit, page = 1, trash }, call) {
      const query = {
        aggregate: toText(functions), groupBy: toText(groupBy), filter: toText(filter), having: toText(having), sort: toText(sort),
        limit: limitOf(limit), page: String(page), ...trashQuery(trash),
      }
      const response = await sendAs({ resource, method: 'GET', end: '/aggregate', query }, call)
      return readResult(response, call, SMALLER)
    },
  })

  const history = defineTool({
    name: 'history',
    title: 'Show the history of a record',
    description: 'Returns the changes of one record, the newest first: who changed what, when and how.',
    input: z.strictObject({ resource: resourceName, id: recordId, limit, cursor }),
    needs: 'history',
    annotations: READS,
    async run({ resource, id, limit, cursor = '' }, call) {
      const request = { resource, id, method: 'GET', end: '/history', query: { limit: limitOf(limit), cursor } } as const
      return readResult(await sendAs(request, call), call, SMALLER)
    },
  })

  return [describeTool, list, get, aggregate, history]
}
