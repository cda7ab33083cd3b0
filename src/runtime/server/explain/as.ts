/** The caller of an explanation, written as text. */
import type { CredentialCaller } from '../core/extensions/credentials'
import type { AutoApiUser } from '../registration'

const KINDS = ['user', 'role', 'permission', 'tenant'] as const

const EXAMPLE = 'Write `anonymous`, or parts such as `user:7,role:editor,permission:posts:write,tenant:1`.'

/** The text does not describe a caller. */
export class InvalidCaller extends Error {}

/**
 * Reads a caller: parts such as `role:editor` or `permission:posts:write`, joined by commas. `user` and `tenant` are ids.
 * @returns `'anonymous'` for this word, and `undefined` for an empty text, which stands for the caller of the request
 * @throws {InvalidCaller}
 * @example
 * parseCaller('user:7,role:editor,tenant:2') // { user: { id: 7, role: 'editor', roles: ['editor'] }, permissions: [], tenant: { id: 2 } }
 */
export function parseCaller(text: string): CredentialCaller | 'anonymous' | undefined {
  const parts = text.split(',').map(part => part.trim()).filter(part => part !== '')
  if (parts.length === 0) return undefined
  if (parts.length === 1 && parts[0] === 'anonymous') return 'anonymous'
  const values: Record<typeof KINDS[number], string[]> = { user: [], role: [], permission: [], tenant: [] }
  for (const part of parts) {
    const colon = part.indexOf(':')
    const kind = KINDS.find(kind => kind === part.slice(0, colon))
    const value = part.slice(colon + 1)
    if (colon === -1 || !kind || value === '')
      throw new InvalidCaller(`\`${part}\` is no part of a caller. ${EXAMPLE}`)
    values[kind].push(value)
  }
  const [id = '0'] = values.user
  const [tenant] = values.tenant
  const [role] = values.role
  return {
    // An app can declare other types for these properties.
    user: { id: toId(id), ...role !== undefined && { role, roles: values.role }, permissions: values.permission } as unknown as AutoApiUser,
    permissions: values.permission,
    ...tenant !== undefined && { tenant: { id: toId(tenant) } },
  }
}

/** A number if the text is one. */
const toId = (text: string): string | number => /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text
