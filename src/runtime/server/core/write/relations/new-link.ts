/** Builds a link from the keys of two records and the metadata of a request. */
import type { Call } from '../../request/session'
import { readableFields } from '../../access/fields'
import { itemContext } from '../../request/hooks'
import { parseData } from '../../parse/body'
import { sampleOf } from '../../parse/samples'
import type { FirstLinks, LinkTask, NewLink } from './links'

/** @param task with the key of the record, or with a reference to a record that the same commit creates */
export async function toNewLink(
  task: Pick<LinkTask, 'link' | 'parent'> | FirstLinks, index: number, target: readonly unknown[], call: Call,
): Promise<NewLink> {
  const { relation: { junction: { resource, registered } }, metadata } = task.link
  const late = 'late' in task ? task.late : undefined
  const driverValues = linkKeys(task, target)
  const field = (name: string) => resource.fields.get(name)!
  const decoded = (name: string) => field(name).decode?.(driverValues.get(name)) ?? driverValues.get(name)
  const known = [...driverValues.keys()]
  const names = [...new Set([...known, ...late?.keys() ?? []])]
  const base = { index, target, ctx: itemContext(call), isHooked: !registered, ...late && { late } }
  if (!registered) {
    const values = { ...metadata[index], ...Object.fromEntries(known.map(name => [name, decoded(name)])) }
    return { ...base, sent: Object.keys(metadata[index]!), values, original: values }
  }
  const { create: schema } = resource.schemas
  const jsonOf = (name: string) => late?.has(name)
    ? sampleOf(field(name))
    : field(name).toWire?.(driverValues.get(name)) ?? driverValues.get(name)
  // A schema that does not contain the keys validates only the metadata.
  const sentKeyValues = names.filter(name => schema.generated || schema.hasKey(name)).map((name): [string, unknown] => [name, jsonOf(name)])
  const { values, sent } = await parseData(
    { ...metadata[index], ...Object.fromEntries(sentKeyValues) },
    resource,
    'create',
    async () => readableFields(call, resource),
    call.api.reservedIds,
  )
  const writableKeys = names.filter(name => !resource.dropped.create.has(name))
  const ownKeys = Object.fromEntries(writableKeys.filter(name => driverValues.has(name)).map(name => [name, decoded(name)]))
  const given = Object.entries({ ...ownKeys, ...values }).filter(([name]) => !late?.has(name))
  const linkValues = Object.fromEntries(given)
  return {
    ...base,
    sent: [...new Set([...sent, ...writableKeys])],
    sentKeys: [...Object.keys(metadata[index]!), ...writableKeys],
    values: { ...linkValues },
    original: linkValues,
    // A hook must not link other records than the request names.
    fixed: Object.fromEntries(
      known.filter(name => name !== resource.tenant?.name && !late?.has(name)).map(name => [name, decoded(name)]),
    ),
  }
}

/** Returns the known keys of a link: the driver values, by column name. */
function linkKeys(task: Pick<LinkTask, 'link' | 'parent'> | FirstLinks, target: readonly unknown[]): Map<string, unknown> {
  const { sourceKey, targetKey } = task.link.relation.junction
  return new Map([
    ...'parent' in task ? sourceKey.columns.map((name, at) => [name, task.parent[at]] as const) : [],
    ...targetKey.columns.map((name, at) => [name, target[at]] as const),
  ])
}
