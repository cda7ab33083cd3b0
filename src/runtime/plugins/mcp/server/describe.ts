/** The tool `describe`: the resources, or the fields of one resource, as far as the caller can use them. */
import { z } from 'zod'
import { COMBINATIONS } from '../../../shared/operators'
import type { DescribedField, DescribedResource } from '../../../shared/types/description'
import { describeFor, toLabel } from '../../../server/kit/describe'
import type { Session } from '../../../server/kit/call'
import { runInSession } from '../../../server/kit/send'
import type { Resource } from '../../../server/kit/rows'
import { capabilitiesOf, type Capability } from './access'
import { withUsableChildren } from './children'
import { readResult, sizeOf } from './result'
import { defineTool, READS, requireToolResource, type ToolCall } from './tool'

export const describeTool = defineTool({
  name: 'describe',
  title: 'Describe',
  description: 'Lists the resources that you can use, with their operations. With `resource`, describes one resource: its fields, '
    + 'filter operators, relations and the schema of its records. Call it before other tools.',
  input: z.strictObject({
    resource: z.string().min(1).max(200).optional().describe('The resource to describe. Leave it out for a list of all resources.'),
    search: z.string().min(1).max(200).optional().describe('Lists only resources whose name or label contains this text.'),
  }),
  needs: undefined,
  annotations: READS,
  async run({ resource, search }, call) {
    const found = resource === undefined ? undefined : requireToolResource(call, resource)
    const request = { ...call.request, resource: '', method: 'GET' }
    const response = await runInSession(request, call.api, async session =>
      ({ status: 200, body: found ? await describeOne(found, session, call) : await list(session, call, search) }))
    return readResult(response, call, 'Raise `maxBytes` of the plugin.')
  },
})

/** The operation of each capability, as the tools are named. */
const TOOL_OF: Readonly<Record<Capability, string>> = {
  canRead: 'read', canAggregate: 'aggregate', canCreate: 'create', canUpdate: 'update', canDelete: 'delete', canRestore: 'restore',
  history: 'history',
}

const WRITES: ReadonlySet<Capability> = new Set(['canCreate', 'canUpdate', 'canDelete', 'canRestore'])

/** The part of a result that the list can fill. The rest is for the keys around it. */
const FILLED = 0.8

/** A list that is too long ends early, and says how many resources are missing. */
async function list(session: Session, call: ToolCall, search = ''): Promise<object> {
  const { resources, options: { maxBytes } } = call
  const listed: object[] = []
  let bytes = 0
  let omitted = 0
  for (const resource of resources.values()) {
    const entry = { name: resource.name, label: labelOf(resource) }
    if (![entry.name, entry.label].some(text => text.toLowerCase().includes(search.toLowerCase()))) continue
    const operations = await operationsOf(resource, session, call)
    if (operations.length === 0) continue
    bytes += sizeOf(JSON.stringify({ ...entry, operations })) + 1
    if (bytes > maxBytes * FILLED) omitted++
    else listed.push({ ...entry, operations })
  }
  return { resources: listed, ...omitted > 0 && { omitted, hint: 'Use `search` to find the other resources.' } }
}

async function operationsOf(resource: Resource, session: Session, { features, options }: ToolCall): Promise<readonly string[]> {
  const capabilities = await capabilitiesOf(session, resource, features)
  return [...capabilities].filter(capability => options.write || !WRITES.has(capability)).map(capability => TOOL_OF[capability])
}

const labelOf = ({ name, metadata }: Resource): string => {
  const label = (metadata as { readonly label?: unknown } | undefined)?.label
  return typeof label === 'string' ? label : toLabel(name)
}

/** A description that is too large leaves out the schemas first, then everything about a field except its kind. */
async function describeOne(resource: Resource, session: Session, call: ToolCall): Promise<object> {
  const operations = await operationsOf(resource, session, call)
  const { resources, limits } = await describeFor(session.ctx, [resource.name])
  const described = resources[resource.name]
  if (!described || operations.length === 0) return { name: resource.name, operations: [] }
  const { label, primaryKey, trash, relations, validation, metadata } = described
  const fields = (compact: (field: DescribedField) => object) =>
    Object.fromEntries(Object.entries(described.fields).map(([name, field]) => [name, compact(field)]))
  const head = {
    name: resource.name, label, operations, primaryKey, ...trash && { trash }, ...Object.keys(metadata).length > 0 && { metadata },
    relations: usableRelations(relations, call), combinations: limits.filter.extended ? COMBINATIONS : ['$or'],
  }
  const bodies = Object.fromEntries(
    Object.entries(validation).map(([kind, body]) => [kind, body && withUsableChildren(body, resource, call)]))
  const forms = [
    { ...head, fields: fields(field => withoutDefaults(field)), ...call.options.write && { bodies } },
    { ...head, fields: fields(field => withoutDefaults(field)), omitted: ['bodies'] },
    {
      name: resource.name, operations, primaryKey, fields: fields(({ kind }) => ({ kind })),
      omitted: ['bodies', 'relations', 'details of fields'],
    },
  ]
  return forms.find(form => sizeOf(JSON.stringify(form)) <= call.options.maxBytes) ?? forms.at(-1)!
}

/** The relations to resources that the tools can use. */
function usableRelations(relations: DescribedResource['relations'], { resources, options }: ToolCall): object {
  return Object.fromEntries(Object.entries(relations)
    .filter(([, { target }]) => resources.has(target))
    .map(([name, { kind, target, includable, filterable, countable, nested }]) =>
      [name, { kind, target, includable, filterable, countable, ...options.write && { nested } }]))
}

/** Leaves out what is false or empty. */
function withoutDefaults({ metadata, references, ...field }: DescribedField): object {
  const isEmpty = (value: unknown) => value === false || (Array.isArray(value) && value.length === 0)
  return {
    ...Object.fromEntries(Object.entries(field).filter(([, value]) => !isEmpty(value))),
    ...references && { references },
    ...Object.keys(metadata).length > 0 && { metadata },
  }
}
