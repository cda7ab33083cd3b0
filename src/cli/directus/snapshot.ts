/** The files that Directus writes: the snapshot of the schema, and its policies with their permissions. */
import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { CommandError } from '../app'

/** The collections of Directus itself begin with this. */
export const SYSTEM = 'directus_'

export const ACTIONS = ['read', 'create', 'update', 'delete'] as const

export type Action = (typeof ACTIONS)[number]

const snapshotSchema = z.object({
  collections: z.array(z.object({
    collection: z.string(),
    meta: z.object({ singleton: z.boolean().nullish(), note: z.string().nullish(), archive_field: z.string().nullish() }).nullish(),
    /** `null` for a folder of collections, which has no table. */
    schema: z.object({}).nullish(),
  })),
  fields: z.array(z.object({
    collection: z.string(),
    field: z.string(),
    meta: z.object({ special: z.array(z.string()).nullish(), note: z.string().nullish() }).nullish(),
    /** `null` for a field without a column, such as the other side of a relation. */
    schema: z.object({
      is_primary_key: z.boolean().nullish(), foreign_key_table: z.string().nullish(), foreign_key_column: z.string().nullish(),
    }).nullish(),
  })),
  relations: z.array(z.object({
    collection: z.string(),
    field: z.string(),
    meta: z.object({ one_allowed_collections: z.array(z.string()).nullish() }).nullish(),
  })).default([]),
})

export type Snapshot = z.infer<typeof snapshotSchema>

/** A rule for rows: `{ author: { _eq: '$CURRENT_USER' } }`, or `{ _and: [rules] }`. */
export type Rule = { readonly [key: string]: unknown }

const rule = z.record(z.string(), z.unknown()).nullish()

const policiesSchema = z.object({
  data: z.array(z.object({
    name: z.string(),
    admin_access: z.boolean().nullish(),
    /** The addresses from which the policy can be used. Text with commas in the database. */
    ip_access: z.union([z.array(z.string()), z.string()]).nullish(),
    /** Whom the policy is given to. The public policy has a row without role and without user. */
    roles: z.array(z.object({ role: z.object({ name: z.string() }).nullish(), user: z.string().nullish() })).default([]),
    permissions: z.array(z.object({
      collection: z.string(),
      action: z.string(),
      permissions: rule,
      validation: rule,
      presets: rule,
      fields: z.array(z.string()).nullish(),
    })).default([]),
  })),
})

export interface Policy {
  /** The permission that a caller with this policy has in the API, such as `policy:editors`. No role has such a name. */
  readonly name: string
  readonly isPublic: boolean
  readonly isAdmin: boolean
  readonly roles: readonly string[]
  readonly hasUsers: boolean
  /** It counts only for some client addresses. */
  readonly isForAddresses: boolean
  readonly permissions: z.infer<typeof policiesSchema>['data'][number]['permissions']
}

/** @throws CommandError if the file is not a snapshot in JSON */
export const readSnapshot = (file: string): Snapshot =>
  parse(file, snapshotSchema, 'a snapshot of Directus as JSON. Write it with `npx directus schema snapshot --format json snapshot.json`')

/** @throws CommandError if the file is not the list of policies */
export function readPolicies(file: string): Policy[] {
  const { data } = parse(file, policiesSchema, 'the response of `GET /policies?fields=*,permissions.*,roles.role.name,roles.user&limit=-1`')
  const names = data.map(({ name }) => toSlug(name))
  return data.map(({ admin_access: admin, ip_access: addresses, roles, permissions }, at) => ({
    name: `policy:${names[at]!}${toSuffix(names, at)}`,
    isPublic: roles.some(({ role, user }) => !role && !user),
    isAdmin: admin ?? false,
    roles: roles.flatMap(({ role }) => role ? [role.name] : []),
    hasUsers: roles.some(({ user }) => user),
    isForAddresses: (addresses?.length ?? 0) > 0,
    permissions,
  }))
}

/** Two policies can have names that differ in signs only. Each keeps its own permission. */
const toSuffix = (names: readonly string[], at: number) => {
  const earlier = names.slice(0, at).filter(name => name === names[at]).length
  return earlier === 0 ? '' : `.${earlier + 1}`
}

const toSlug = (name: string) => name.toLowerCase().replace(/^\$t:/, '').replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'policy'

function parse<T>(file: string, schema: z.ZodType<T>, expected: string): T {
  if (!existsSync(file)) throw new CommandError(`\`${file}\` does not exist.`)
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  }
  catch {
    throw new CommandError(`\`${file}\` is not JSON. It should be ${expected}.`)
  }
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const { path, message } = error.issues[0]!
  throw new CommandError(`\`${file}\` is not ${expected}: ${path.join('.') || 'the file'}: ${message}.`)
}
