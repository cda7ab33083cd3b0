/** Children in the values of a write. A tool writes them only if it can also use their resource. */
import { isObject } from '../../../shared/is-object'
import { LIMITS } from '../../../shared/limits'
import type { JsonSchema } from '../../../shared/types/description'
import type { Resource } from '../../../server/kit/rows'
import { requireToolResource, type ToolCall } from './tool'

/** @throws 404 for children of a resource that the tools cannot use. Everything else is left to the route. */
export function assertUsableChildren(values: unknown, { nested }: Resource, call: ToolCall, level = 0): void {
  if (!isObject(values) || level === LIMITS.nestedLevels) return
  for (const [name, { relation: { target } }] of nested) {
    if (!Object.hasOwn(values, name)) continue
    const resource = requireToolResource(call, target.name)
    const { create, update } = { ...(values as Readonly<Record<string, object>>)[name] } as { create?: unknown, update?: unknown }
    for (const body of listOf(create)) assertUsableChildren(body, resource, call, level + 1)
    for (const item of listOf(update)) assertUsableChildren((item as { data?: unknown } | null)?.data, resource, call, level + 1)
  }
}

const listOf = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : []

/** Leaves out the children of resources that the tools cannot use. */
export function withUsableChildren(body: JsonSchema, { nested }: Resource, { resources }: ToolCall): JsonSchema {
  const isUsable = (name: string) => !nested.has(name) || resources.has(nested.get(name)!.relation.target.name)
  return nested.size === 0
    ? body
    : { ...body, properties: Object.fromEntries(Object.entries(body.properties ?? {}).filter(([name]) => isUsable(name))) }
}
