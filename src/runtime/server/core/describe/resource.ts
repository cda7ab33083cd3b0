/** Describes a resource for the decisions about one caller. Callers with the same decisions share one description. */
import type { DescribedField, DescribedRelation, DescribedResource, JsonSchema } from '../../../shared/types/description'
import type { Resource } from '../../schema/model'
import type { RelationAccess, ResourceAccess } from './access'
import { omitProperties } from './bodies'
import type { FieldFacts, ResourceFacts } from './facts'
import { toLabel } from './label'
import { withChildren } from './nested'
import { memoized } from '../memoized'

/** All decisions about a resource. */
export interface Decisions extends ResourceAccess {
  /** By the name of the relation. */
  readonly relations: ReadonlyMap<string, RelationAccess>
  /** The names of the fields whose reference the caller can read. */
  readonly references: ReadonlySet<string>
}

const descriptionsOf = memoized((_: ResourceFacts) => new Map<string, DescribedResource>())

/** Field rules can be functions with any result, so their number of combinations is not bounded. */
const MAX_CACHED = 32

/** Returns a frozen description. */
export function describeResource(resource: Resource, facts: ResourceFacts, decisions: Decisions): DescribedResource {
  const key = keyOf(facts, decisions)
  const known = descriptionsOf(facts)
  let described = known.get(key)
  if (!described) {
    described = deepFreeze(create(resource, facts, decisions))
    if (known.size < MAX_CACHED) known.set(key, described)
  }
  return described
}

/** Contains every decision, so that callers with different decisions never share a description. */
function keyOf({ ruled, fields, relations }: ResourceFacts, decisions: Decisions): string {
  const { capabilities, unreadable, unwritable } = decisions
  const ofRelation = (name: string) => {
    const { includable, filterable, countable, modes, nested } = decisions.relations.get(name)!
    return `${bit(includable)}${bit(filterable)}${bit(countable)}${modes.join()} ${nested.join()}`
  }
  return [
    Object.values(capabilities).map(bit).join(''),
    ruled.map(name => [unreadable, unwritable.create, unwritable.update].map(names => bit(names.has(name))).join('')).join(),
    relations.map(({ name }) => ofRelation(name)).join(';'),
    fields.map(({ field }) => bit(decisions.references.has(field.name))).join(''),
  ].join('|')
}

const bit = (value: boolean) => value ? '1' : '0'

function create(resource: Resource, facts: ResourceFacts, decisions: Decisions): DescribedResource {
  const { capabilities } = decisions
  const fields = facts.fields.flatMap((field): [string, DescribedField][] => {
    const described = describeField(field, resource, decisions)
    return described.readable || described.writable.create || described.writable.update ? [[field.field.name, described]] : []
  })
  const names = new Map(fields)
  const key = resource.primaryKey.map(({ name }) => name)
  const body = (kind: 'create' | 'update', allowed: boolean): JsonSchema | undefined => {
    const schema = allowed ? facts.validation[kind] : undefined
    const nested = facts.relations.map(({ name }) => [name, decisions.relations.get(name)!.nested] as const)
    return schema && withChildren(omitProperties(schema, name => decisions.unwritable[kind].has(name)), nested)
  }
  const [createBody, updateBody] = [body('create', capabilities.canCreate), body('update', capabilities.canUpdate)]
  return {
    label: facts.label,
    capabilities,
    primaryKey: key.every(name => names.has(name)) ? key : [],
    fields: Object.fromEntries(fields),
    relations: Object.fromEntries(facts.relations.flatMap((relation): [string, DescribedRelation][] => {
      const { includable, filterable, countable, modes, nested } = decisions.relations.get(relation.name)!
      if (!includable && !filterable && modes.length === 0 && nested.length === 0) return []
      const linkable = { add: modes.includes('add'), remove: modes.includes('remove'), replace: modes.includes('replace') }
      return [[relation.name, {
        label: toLabel(relation.name),
        kind: relation.kind,
        target: relation.target.name,
        includable,
        filterable,
        countable,
        ...relation.kind === 'manyToMany' && { linkable },
        ...nested.length > 0 && { nested },
      }]]
    })),
    validation: { ...createBody && { create: createBody }, ...updateBody && { update: updateBody } },
    tenantScoped: resource.tenant !== undefined,
    ...facts.trash && { trash: facts.trash },
    ...resource.readOnly && { readOnly: true },
    metadata: facts.metadata,
  }
}

function describeField(facts: FieldFacts, resource: Resource, decisions: Decisions): DescribedField {
  const { field: { name }, required, reference, described } = facts
  const { capabilities, showsRecords, queries, unreadable, unwritable, references, relations } = decisions
  const readable = showsRecords && !unreadable.has(name)
  const canSet = (kind: 'create' | 'update') =>
    resource.writable[kind].has(name) && resource.schemas[kind].hasKey(name) && !unwritable[kind].has(name)
  const writable = { create: capabilities.canCreate && canSet('create'), update: capabilities.canUpdate && canSet('update') }
  const isQueried = readable && queries
  const { label, kind, nullable, hasDefault, primaryKey, operators, sortable, searchable, aggregates, ...optional } = described
  const { default: constant, ...rest } = optional
  const relation = reference?.relation && relations.get(reference.relation.name)?.includable ? reference.relation.name : undefined
  return {
    label, kind, nullable, readable, writable,
    required: writable.create && required,
    hasDefault,
    // A default is part of a body, so only callers who can send the field see it.
    ...constant !== undefined && writable.create && { default: constant },
    primaryKey,
    operators: isQueried ? operators : [],
    sortable: isQueried && sortable,
    searchable: isQueried && searchable,
    aggregates: readable && capabilities.canAggregate ? aggregates : [],
    ...rest,
    ...reference && references.has(name) && {
      references: { resource: reference.target.name, field: reference.field, ...relation !== undefined && { relation } },
    },
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
