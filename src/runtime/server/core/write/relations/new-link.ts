/** Builds a link from the keys of two records and the metadata of a request. */
import type { Call } from '../../request/session'
import { readableFields } from '../../access/fields'
import { itemContext } from '../../request/hooks'
import { parseData } from '../../parse/body'
import type { LinkTask, NewLink } from './links'

export async function toNewLink(task: LinkTask, index: number, target: readonly unknown[], call: Call): Promise<NewLink> {
  const { relation: { junction: { resource, registered } }, metadata } = task.link
  const driverValues = linkKeys(task, target)
  const field = (name: string) => resource.fields.get(name)!
  const decoded = (name: string) => field(name).decode?.(driverValues.get(name)) ?? driverValues.get(name)
  const names = [...driverValues.keys()]
  const base = { index, target, ctx: itemContext(call), isHooked: !registered }
  if (!registered) {
    const values = { ...metadata[index], ...Object.fromEntries(names.map(name => [name, decoded(name)])) }
    return { ...base, sent: Object.keys(metadata[index]!), values, original: values }
  }
  const { create: schema } = resource.schemas
  // A schema that does not contain the keys validates only the metadata.
  const sentKeyValues = names.filter(name => schema.generated || schema.hasKey(name))
    .map((name): [string, unknown] => [name, field(name).toWire?.(driverValues.get(name)) ?? driverValues.get(name)])
  const { values, sent } = await parseData(
    { ...metadata[index], ...Object.fromEntries(sentKeyValues) },
    resource,
    'create',
    async () => readableFields(call, resource),
    call.api.reservedIds,
  )
  const writableKeys = names.filter(name => !resource.dropped.create.has(name))
  const linkValues = { ...Object.fromEntries(writableKeys.map(name => [name, decoded(name)])), ...values }
  return {
    ...base,
    sent: [...new Set([...sent, ...writableKeys])],
    sentKeys: [...Object.keys(metadata[index]!), ...writableKeys],
    values: { ...linkValues },
    original: linkValues,
    // A hook must not link other records than the request names.
    fixed: Object.fromEntries(names.filter(name => name !== resource.tenant?.name).map(name => [name, decoded(name)])),
  }
}

/** Returns both keys of a link: the driver values, by column name. */
function linkKeys(
  {
    link: {
      relation: {
        junction: { sourceKey, targetKey },
      },
    },
    parent,
  }: LinkTask,
  target: readonly unknown[],
): Map<string, unknown> {
  return new Map([
    ...sourceKey.columns.map((name, at) => [name, parent[at]] as const),
    ...targetKey.columns.map((name, at) => [name, target[at]] as const),
  ])
}
