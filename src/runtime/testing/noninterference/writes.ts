/** Random writes, as dry runs: of records, children, links and files. */
import type { Field } from '../../server/schema/field'
import type { Operation } from '../../shared/operations'
import { toPath } from '../access/probes'
import type { SentRequest } from './sent'
import { pickId, pickResource, pickValue, toBodyId, type Pool, type PooledResource } from './values'

const DRY = { dryRun: true }

type Body = Readonly<Record<string, unknown>>

export function writeRequest(pool: Pool, on: PooledResource, hasRoute: (method: string, path: string) => boolean): SentRequest {
  const { random } = pool
  const { name } = on.resource
  const path = `/${name}`
  const record = () => `${path}/${toPath(pickId(pool, on))}`
  const id = () => toBodyId(pickId(pool, on))
  const ids = () => Array.from({ length: 1 + random.below(2) }, id)
  const query = random.chance(0.2) ? { ...DRY, force: true } : DRY
  const send = (method: string, path: string, body?: unknown, more: object = {}): SentRequest =>
    ({ method, path, query: { ...DRY, ...more }, ...body !== undefined && { body } })
  const links = on.relations.filter(({ kind }) => kind === 'manyToMany')
  // A refused request says less.
  const weight = (weight: number, operation: Operation) => on.allowed.has(operation) ? weight : weight / 20
  return random.weighted<() => SentRequest>([
    [weight(4, 'create'), () => send('POST', path, newRecord(pool, on))],
    [weight(4, 'update'), () => send('PATCH', record(), change(pool, on))],
    [weight(3, 'delete'), () => ({ ...send('DELETE', record()), query })],
    [weight(2, 'restore'), () => send('POST', `${record()}/restore`)],
    [weight(1, 'create'), () => send('POST', `${path}/bulk`, { items: [newRecord(pool, on), newRecord(pool, on)] })],
    [weight(1, 'update'), () => send('PATCH', `${path}/bulk`, { items: ids().map(id => ({ id, data: change(pool, on) })) })],
    [weight(1, 'delete'), () => ({ ...send('DELETE', `${path}/bulk`, { ids: ids() }), query })],
    [weight(1, 'restore'), () => send('POST', `${path}/bulk/restore`, { ids: ids() })],
    [weight(3, 'create'), () => upsert(pool, on, send)],
    [links.length > 0 ? weight(4, 'update') : 0, () => {
      const relation = random.pick(links)
      const target = pool.resources.get(relation.target.name)
      const linked = target ? [toBodyId(pickId(pool, target))] : [1]
      return send(random.pick(['POST', 'PUT', 'DELETE']), `${record()}/relations/${relation.name}`, { ids: linked })
    }],
    [hasRoute('POST', '/batch') ? 2 : 0, () => send('POST', '/batch', { steps: [step(pool, on), step(pool, pickResource(pool))] })],
    [hasRoute('POST', `${path}/import`) ? 2 : 0, () => ({
      ...send('POST', `${path}/import`, newRecord(pool, on), random.chance(0.5) ? { mode: 'upsert' } : {}),
      headers: { 'content-type': 'application/x-ndjson' },
    })],
  ])()
}

function step(pool: Pool, on: PooledResource): Body {
  const resource = on.resource.name
  const id = toBodyId(pickId(pool, on))
  return pool.random.weighted<() => Body>([
    [1, () => ({ resource, operation: 'create', data: newRecord(pool, on) })],
    [1, () => ({ resource, operation: 'update', id, data: change(pool, on) })],
    [1, () => ({ resource, operation: 'delete', id })],
    [1, () => ({ resource, operation: 'restore', id })],
  ])()
}

/** A create with the unique values of a row that often exists. */
function upsert(
  pool: Pool, on: PooledResource, send: (method: string, path: string, body: unknown, query: object) => SentRequest,
): SentRequest {
  const { resource } = on
  const keys = [resource.facts.primaryKey, ...resource.facts.uniques]
    .filter(names => names.some(name => resource.writable.create.has(name)))
  const names = keys.length > 0 ? pool.random.pick(keys).filter(name => name !== resource.tenant?.name) : ['id']
  const key = Object.fromEntries(names.map(name => [name, pickValue(pool, on, resource.fields.get(name))]))
  return send('POST', `/${resource.name}`, { ...newRecord(pool, on), ...key }, { onConflict: names.join(',') })
}

const write = (pool: Pool, on: PooledResource, fields: readonly Field[]): Body =>
  Object.fromEntries(fields.map(field => [field.name, valueFor(pool, on, field)]))

/** Text is often new, because it can be unique. */
function valueFor(pool: Pool, on: PooledResource, field: Field): unknown {
  const value = pickValue(pool, on, field)
  const isFixed = (field.column as { readonly enumValues?: unknown }).enumValues !== undefined
  const isText = typeof value === 'string' && field.kind === 'text' && !isFixed
  return isText && pool.random.chance(0.5) ? `New ${pool.random.below(1000)}` : value
}

function newRecord(pool: Pool, on: PooledResource): Body {
  const { resource, unreadable } = on
  const writable = [...resource.fields.values()].filter(({ name }) => resource.writable.create.has(name))
  const required = requiredOf(on)
  const rest = pool.random.some(writable.filter(field => !required.includes(field) && !unreadable.includes(field)), 2)
  return { ...write(pool, on, [...required, ...rest]), ...children(pool, on) }
}

function change(pool: Pool, on: PooledResource): Body {
  const { resource, readable, unreadable } = on
  const { random } = pool
  const writable = readable.filter(({ name }) => resource.writable.update.has(name))
  const others = random.chance(0.1) ? unreadable.filter(({ stored }) => stored) : []
  return { ...write(pool, on, [...random.some(writable, 2), ...random.some(others, 1)]), ...children(pool, on) }
}

function children(pool: Pool, { resource }: PooledResource): Body {
  const { random } = pool
  if (resource.nested.size === 0 || random.chance(0.7)) return {}
  const [name, { relation, actions }] = random.pick([...resource.nested])
  const target = pool.resources.get(relation.target.name)
  if (!target) return {}
  const action = random.pick([...actions])
  const id = toBodyId(pickId(pool, target))
  const entries: Readonly<Record<string, () => unknown>> = {
    create: () => write(pool, target, requiredOf(target)), update: () => ({ id, data: {} }),
  }
  return { [name]: { [action]: [entries[action]?.() ?? id] } }
}

const requiredOf = ({ resource }: PooledResource): Field[] => [...resource.fields.values()]
  .filter(({ name, optional, nullable }) => resource.writable.create.has(name) && !optional && !nullable)
