/** Finds out what an API has: the union of the descriptions that its callers get. */
import type { NestedAction } from '../../shared/nested'
import type { ApiDescription, DescribedField, DescribedResource, JsonSchema } from '../../shared/types/description'
import type { TestApi } from '../api/create'

export interface FoundRelation {
  readonly name: string
  readonly kind: 'one' | 'many' | 'manyToMany'
  readonly target: string
  /** What at least one caller can do with children in the body of a record. */
  readonly nested: readonly NestedAction[]
}

/** A resource as all callers together see it. */
export interface FoundResource {
  readonly name: string
  /** @default the field `id`, if no caller can use the key */
  readonly primaryKey: readonly string[]
  /** The fields that at least one caller can read or write. */
  readonly fields: ReadonlyMap<string, DescribedField>
  readonly relations: readonly FoundRelation[]
  readonly hasTrash: boolean
  /** The JSON Schema of the body of a create, of the caller who can set the most fields. */
  readonly create: JsonSchema | undefined
}

export interface Found {
  readonly resources: ReadonlyMap<string, FoundResource>
  readonly hasBulk: boolean
}

/** @throws When a caller cannot read the description of the API. */
export async function discover(api: TestApi): Promise<Found> {
  const descriptions: ApiDescription[] = []
  for (const caller of api.callers) {
    const { status, code = '', body } = await api.as(caller).get<ApiDescription>('/_schema')
    // A caller with a credential that is not valid gets no response at all.
    if (status === 401) continue
    if (status !== 200) throw new Error(`[auto-api] The caller \`${caller}\` cannot read the description of the API: ${status} ${code}`)
    descriptions.push(body)
  }
  const names = new Set([...api.registered ?? [], ...descriptions.flatMap(({ resources }) => Object.keys(resources))])
  return {
    resources: new Map([...names].sort().map(name => [name, merge(name, descriptions.flatMap(({ resources }) => resources[name] ?? []))])),
    hasBulk: descriptions.some(({ limits }) => limits.bulk.enabled),
  }
}

function merge(name: string, all: readonly DescribedResource[]): FoundResource {
  const longest = <T>(lists: readonly T[], sizeOf: (value: T) => number) => lists.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0]
  const fields = new Map<string, DescribedField>()
  const relations = new Map<string, FoundRelation>()
  for (const described of all) {
    for (const [field, facts] of Object.entries(described.fields)) fields.set(field, mergeField(fields.get(field), facts))
    for (const [relation, { kind, target, nested = [] }] of Object.entries(described.relations)) {
      const known = relations.get(relation)?.nested ?? []
      relations.set(relation, { name: relation, kind, target, nested: [...new Set([...known, ...nested])] })
    }
  }
  const bodies = all.flatMap(({ validation }): JsonSchema[] => validation.create ? [validation.create] : [])
  const primaryKey = longest(all.map(described => described.primaryKey), key => key.length) ?? []
  return {
    name,
    primaryKey: primaryKey.length > 0 ? primaryKey : ['id'],
    fields: new Map([...fields].sort(byName)),
    relations: [...relations.values()].sort((a, b) => a.name < b.name ? -1 : 1),
    // Without a description, nobody can use the resource. Then every request has to be refused.
    hasTrash: all.length === 0 || all.some(({ trash }) => trash !== undefined),
    create: longest(bodies, ({ properties = {} }) => Object.keys(properties).length),
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => a < b ? -1 : 1

function mergeField(known: DescribedField | undefined, field: DescribedField): DescribedField {
  if (!known) return field
  const writable = { create: known.writable.create || field.writable.create, update: known.writable.update || field.writable.update }
  return { ...known, ...field, readable: known.readable || field.readable, required: known.required || field.required, writable }
}
