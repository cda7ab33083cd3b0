/** Lists who can do what with each resource by its rules, so that a change of a rule is a change of a line. */
import { toCode, type AccessMatrix } from '../../shared/access-matrix'
import { FALLBACKS, OPERATIONS, type Operation } from '../../shared/operations'
import type { Permission } from '../registration'
import type { Resource } from './model'

const HEAD = ['# Access matrix', '', 'Who can do what, by the rules of each resource. `npx nuxt-auto-api check --update` writes this file.']

/** Longer rules are cut. A rule of this length does not fit into a line. */
const MAX_RULE = 160

export function toAccessMatrix(resources: Iterable<Resource>): AccessMatrix {
  const sorted = [...resources].sort((a, b) => a.name < b.name ? -1 : 1)
  return { head: HEAD, tables: sorted.map(resource => ({ name: resource.name, columns: ['rule', 'who'], rows: toRows(resource) })) }
}

function toRows(resource: Resource): string[][] {
  return [
    ...OPERATIONS.map(operation => [operation, describeOperation(resource, operation)]),
    ['rows', describeRows(resource)],
    ...Object.entries(resource.auth?.fields ?? {}).flatMap(([field, rule]) =>
      (['read', 'write'] as const).flatMap(access =>
        rule?.[access] === undefined ? [] : [[`field ${field}: ${access}`, describePermission(rule[access])]],
      ),
    ),
  ]
}

function describeOperation({ auth, disabled }: Resource, operation: Operation): string {
  if (disabled.has(operation)) return 'disabled'
  for (let current: Operation | undefined = operation; current !== undefined; current = FALLBACKS[current]) {
    const permission = auth?.permissions?.[current]
    if (permission !== undefined) return describePermission(permission) + (current === operation ? '' : ` (from ${current})`)
  }
  return 'nobody'
}

export function describePermission(permission: Permission): string {
  if (permission === true) return 'everybody'
  if (permission === false) return 'nobody'
  if (typeof permission === 'string') return `'${permission}'`
  if (typeof permission === 'function') return toCode(shorten(Function.prototype.toString.call(permission)))
  if (Array.isArray(permission)) return (permission as readonly Permission[]).map(describePermission).join(' or ')
  return toCode(shorten(JSON.stringify(permission)))
}

const shorten = (text: string) => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > MAX_RULE ? `${line.slice(0, MAX_RULE)} …` : line
}

function describeRows({ auth, tenant, roles }: Resource): string {
  const rules = [
    ...tenant ? [`tenant (${tenant.name})`] : [],
    ...auth?.listFilter ? ['listFilter'] : [],
    ...auth?.objectLevel ? ['objectLevel'] : [],
    ...roles.deletedAt ? ['not in the trash'] : [],
  ]
  return rules.join(', ') || 'all'
}
