/** `expectNoLeaks`: reads everything as a caller, and fails if something shows that the caller must not see. */
import { didYouMean } from '../../shared/suggest'
import type { TestApi } from '../api/create'
import { discover, type Found } from '../access/discover'
import type { ExtraRequest } from '../access/observe'
import { toParts, toPath, type NamedRows, type RowId } from '../access/probes'
import type { Values } from '../access/values'
import { createInspector } from './inspect'
import { compareFields, compareRows } from './twins'
import { compareUpserts } from './upserts'
import { walk, type Walk } from './walk'
import { compareUnique, compareWrites } from './writes'

/** What a caller must not see. */
export interface LeakOptions<Name extends string = string> {
  /** The caller, or several callers that must not see the same. */
  readonly as: Name | readonly Name[]
  /**
   * The ids of hidden rows by resource, as a list or by name.
   * @default {}
   */
  readonly rows?: Readonly<Record<string, readonly RowId[] | NamedRows>>
  /**
   * The names of hidden fields by resource.
   * @default {}
   */
  readonly fields?: Readonly<Record<string, readonly string[]>>
  /**
   * Values that no response contains, such as a salary or the title of a draft. Text has at least 3 characters.
   * @default []
   */
  readonly secrets?: readonly (string | number)[]
  /**
   * Unique values of hidden rows by resource, such as an email address: `{ users: { email: 'ann@example.com' } }`. A write with such a
   * value must not be a conflict. It is none if the unique constraint contains the tenant column.
   * @default {}
   */
  readonly unique?: Readonly<Record<string, Values>>
  /**
   * Bodies and queries of endpoints that write, by method and path: `{ 'POST /posts/:id/publish': { body } }`. `false` leaves one out. They
   * are sent only if the API has `reset`.
   * @default every endpoint below a record, with an empty body
   */
  readonly requests?: Readonly<Record<string, ExtraRequest>>
}

/**
 * Reads everything that the caller can read, in every order and with every include, and compares requests about hidden rows and fields with
 * requests about missing ones. Requests read, or are dry runs. Endpoints that write are followed by `reset`.
 * @throws When a response shows a hidden row, field or value, or when a status, a total or an error discloses that it exists.
 * @example
 * await expectNoLeaks(api, { as: 'reader', rows: { posts: [3] }, fields: { users: ['salary'] }, secrets: ['Draft of Edgar'] })
 */
export async function expectNoLeaks<Name extends string>(
  api: TestApi<Name>, { as, rows = {}, fields = {}, secrets = [], unique = {}, requests = {} }: LeakOptions<NoInfer<Name>>,
): Promise<void> {
  const found = await discover(api)
  const hidden = { rows: Object.fromEntries(Object.entries(rows).map(([name, ids]) => [name, toList(ids)])), fields, secrets }
  assertKnown(found, [...Object.keys(rows), ...Object.keys(fields), ...Object.keys(unique)])
  for (const secret of secrets)
    if (typeof secret === 'string' && secret.length < 3)
      throw new Error(`[auto-api] The secret "${secret}" is too short: it can be a part of other text.`)
  const records = await findHidden(api, found, hidden.rows)
  const inspector = createInspector(found, hidden)
  for (const caller of [as].flat() as Name[]) {
    const { routes, reset } = api
    const context: Walk = { client: api.as(caller), caller, found, inspector, routes, requests, ...reset && { reset } }
    const visible = await walk(context)
    for (const [name, ids] of Object.entries(hidden.rows)) {
      for (const id of ids) {
        await compareRows(context, found.resources.get(name)!, id)
        await compareWrites(context, visible, found.resources.get(name)!, id)
        for (const key of api.uniqueKeys?.[name] ?? [])
          await compareUpserts(context, visible, found.resources.get(name)!, id, { key, record: records.get(`${name}/${toPath(id)}`)! })
      }
    }
    for (const [name, values] of Object.entries(unique)) await compareUnique(context, visible, found.resources.get(name)!, values)
    for (const [name, names] of Object.entries(fields))
      for (const field of names) await compareFields(context, visible, found.resources.get(name)!, field)
  }
  const leaks = [...inspector.leaks]
  if (leaks.length === 0) return
  const rest = leaks.length - MAX_LEAKS
  throw new Error([
    `[auto-api] ${leaks.length === 1 ? 'A response discloses' : `${leaks.length} responses disclose`} what the caller must not see.`,
    ...leaks.slice(0, MAX_LEAKS).map(leak => `- ${leak}`),
    ...rest > 0 ? [`- and ${rest} more`] : [],
  ].join('\n'))
}

/** More would hide the first ones. */
const MAX_LEAKS = 40

const toList = (ids: readonly RowId[] | NamedRows): readonly RowId[] => Array.isArray(ids) ? ids as readonly RowId[] : Object.values(ids)

/** @throws When a resource does not exist. */
function assertKnown({ resources }: Found, names: readonly string[]): void {
  for (const name of names)
    if (!resources.has(name)) throw new Error(`[auto-api] The API has no resource \`${name}\`.${didYouMean(name, [...resources.keys()])}`)
}

/**
 * Returns the hidden records by path, with the fields that any caller sees. A row that nobody sees can be missing: then the test proves
 * nothing.
 * @throws When no caller sees a row.
 */
async function findHidden(api: TestApi, { resources }: Found, rows: Readonly<Record<string, readonly RowId[]>>) {
  const records = new Map<string, Values>()
  for (const [name, ids] of Object.entries(rows)) {
    for (const id of ids) {
      const path = `${name}/${toPath(id)}`
      for (const caller of api.callers) {
        for (const query of resources.get(name)!.hasTrash ? [{}, { includeDeleted: true }] : [{}]) {
          const { status, body } = await api.as(caller).get<Values>(`/${path}`, query)
          if (status === 200) records.set(path, { ...records.get(path), ...body })
        }
      }
      if (!records.has(path)) {
        throw new Error(
          `[auto-api] No caller sees the row ${toParts(id).join(', ')} of \`${name}\`, so the test proves nothing. `
          + 'Add a caller who sees it, or correct the id.',
        )
      }
    }
  }
  return records
}
