/** `expectAccess`: compares who can do what with a stored matrix. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findMatrixChanges, toMarkdown, type AccessTable } from '../../shared/access-matrix'
import { didYouMean } from '../../shared/suggest'
import type { TestApi } from '../api/create'
import { discover, type Found, type FoundResource } from './discover'
import { observeOthers, observeResource, type ExtraRequest } from './observe'
import type { NamedRows } from './probes'
import type { Values } from './values'

export interface MatrixOptions {
  /**
   * `true` writes the file instead of comparing it.
   * @default whether the environment variable `UPDATE_MATRIX` is `1`
   */
  readonly update?: boolean
}

/** Values for the bodies of a create and of an update. */
export interface TestValues {
  readonly create?: Values
  readonly update?: Values
}

type RowsOf<Resource> = Resource extends string ? NamedRows : Readonly<Record<string, NamedRows | false>>
type ValuesOf<Resource> = Resource extends string ? TestValues : Readonly<Record<string, TestValues>>

/** What the matrix contains. Each function returns a new expectation. */
export interface AccessExpectation<Name extends string, Resource extends string | undefined> {
  /**
   * The callers, in the order of the columns.
   * @default all callers of the API
   */
  readonly as: (callers: readonly Name[]) => AccessExpectation<Name, Resource>
  /** The ids of rows, each with a name that says why a caller can or cannot see the row. For all resources: the rows by resource. */
  readonly rows: (rows: RowsOf<Resource>) => AccessExpectation<Name, Resource>
  /** Values for bodies, if those that the kit makes up are not valid. For all resources: the values by resource. */
  readonly values: (values: ValuesOf<Resource>) => AccessExpectation<Name, Resource>
  /** Further requests by method and path below the prefix, such as endpoints: `{ 'POST /posts/:id/publish': { body } }`. */
  readonly requests: (requests: Readonly<Record<string, ExtraRequest>>) => AccessExpectation<Name, Resource>
  /** Sends every request and returns the matrix as Markdown. */
  readonly toMarkdown: () => Promise<string>
  /**
   * Sends every request and compares the matrix.
   * @param expected the path of a file, or the text itself
   * @throws When a cell differs, the file does not exist, or the app has a resource or a request that is not listed.
   */
  readonly toMatchMatrix: (expected: string | URL, options?: MatrixOptions) => Promise<void>
}

interface State {
  readonly callers?: readonly string[]
  readonly rows: Readonly<Record<string, NamedRows | false>>
  readonly values: Readonly<Record<string, TestValues>>
  readonly requests: Readonly<Record<string, ExtraRequest>>
}

/**
 * Begins an expectation about one resource, or about all resources of the API. Requests read, or are dry runs.
 * @example
 * await expectAccess(api, 'posts')
 *   .as(['anonymous', 'reader', 'editor'])
 *   .rows({ own: 1, foreign: 2, trashed: 4 })
 *   .toMatchMatrix('test/access/posts.md')
 */
export function expectAccess<Name extends string>(api: TestApi<Name>): AccessExpectation<Name, undefined>
export function expectAccess<Name extends string, Resource extends string>(
  api: TestApi<Name>, resource: Resource,
): AccessExpectation<Name, Resource>
export function expectAccess(api: TestApi, resource?: string): AccessExpectation<string, string | undefined> {
  return create(api, resource, { rows: {}, values: {}, requests: {} })
}

function create(api: TestApi, resource: string | undefined, state: State): AccessExpectation<string, string | undefined> {
  const next = (change: Partial<State>) => create(api, resource, { ...state, ...change })
  const byResource = <T>(value: unknown) => (resource === undefined ? value : { [resource]: value }) as Readonly<Record<string, T>>
  const render = () => renderMatrix(api, resource, state)
  return {
    as: callers => next({ callers }),
    rows: rows => next({ rows: byResource(rows) }),
    values: values => next({ values: byResource(values) }),
    requests: requests => next({ requests }),
    toMarkdown: render,
    async toMatchMatrix(expected, { update = process.env.UPDATE_MATRIX === '1' } = {}) {
      const text = await render()
      expectedResources(api).push(...resource === undefined ? api.registered ?? [] : [resource])
      compare(text, expected, update)
    },
  }
}

const HEAD = [
  '# Access matrix',
  '',
  'Who can do what. `yes`: the request works. `no`: the result does not contain the row. A number: the status of the refusal.',
]

async function renderMatrix(api: TestApi, only: string | undefined, state: State): Promise<string> {
  const found = await discover(api)
  const resources = selectResources(found, only, state)
  const { callers = api.callers, rows, values, requests } = state
  const rowsOf = (name: string) => rows[name] || undefined
  const observation = { api, found, callers, rowsOf }
  const requestsOf = (name: string) =>
    Object.fromEntries(Object.entries(requests).filter(([address]) => resourceOf(address, found) === name))
  const tables: AccessTable[] = []
  for (const resource of resources) {
    const { name } = resource
    const setup = { rows: rowsOf(name) ?? {}, values: values[name] ?? {}, requests: requestsOf(name) }
    tables.push(await observeResource(observation, resource, setup))
  }
  const others = only === undefined ? await observeOthers(observation, requestsOf('')) : undefined
  return toMarkdown({ head: HEAD, tables: [...tables, ...others && others.rows.length > 0 ? [others] : []] })
}

/** Returns the resource of a request, or an empty name. @throws When it is not a method and a path. */
function resourceOf(address: string, { resources }: Found): string {
  const [, name] = /^[A-Z]+ \/([\w-]+)/.exec(address) ?? []
  if (name !== undefined) return resources.has(name) ? name : ''
  throw new Error(
    `[auto-api] requests(): \`${address}\` is no request. Write the method and the path below the prefix: \`POST /posts/:id/publish\`.`,
  )
}

/** @throws When a resource is not listed, or does not exist. */
function selectResources({ resources }: Found, only: string | undefined, { rows }: State): FoundResource[] {
  const names = [...resources.keys()]
  for (const name of only === undefined ? Object.keys(rows) : [only]) {
    if (!resources.has(name)) throw new Error(`[auto-api] The API has no resource \`${name}\`.${didYouMean(name, names)}`)
    if (rows[name] !== false && Object.keys(rows[name] ?? {}).length === 0)
      throw new Error(`[auto-api] \`${name}\` has no rows. Name at least one: \`rows({ own: 1 })\`.`)
  }
  if (only !== undefined) return [resources.get(only)!]
  const forgotten = names.filter(name => !Object.hasOwn(rows, name))
  if (forgotten.length > 0) {
    const list = forgotten.map(quote).join(', ')
    const advice = 'Name rows of each resource in `rows`, or write `false` to leave it out.'
    throw new Error(`[auto-api] The access matrix does not list ${list}. ${advice}`)
  }
  return names.filter(name => rows[name] !== false).map(name => resources.get(name)!)
}

const quote = (name: string) => `\`${name}\``

function compare(text: string, expected: string | URL, update: boolean): void {
  const isText = typeof expected === 'string' && expected.includes('\n')
  if (isText) return assertSame(expected, text, 'Compare the rules of the app with the text of the test.')
  const file = typeof expected === 'string' ? expected : fileURLToPath(expected)
  if (update) return writeFileSync(file, text)
  const write = 'Review the rules, then run the test with `UPDATE_MATRIX=1` and commit the file.'
  if (!existsSync(file)) throw new Error(`[auto-api] \`${file}\`, the access matrix, does not exist. ${write}`)
  assertSame(readFileSync(file, 'utf8'), text, `\`${file}\` has another matrix. ${write}`)
}

/** More would hide the first ones. */
const MAX_CHANGES = 40

function assertSame(before: string, after: string, advice: string): void {
  const changes = findMatrixChanges(before, after)
  if (changes.length === 0) return
  const rest = changes.length - MAX_CHANGES
  const lines = [...changes.slice(0, MAX_CHANGES).map(change => `- ${change}`), ...rest > 0 ? [`- and ${rest} more`] : []]
  throw new Error(`[auto-api] The access matrix has changed. ${advice}\n${lines.join('\n')}`)
}

const matched = new WeakMap<object, string[]>()

function expectedResources(api: TestApi): string[] {
  let names = matched.get(api)
  if (!names) matched.set(api, names = [])
  return names
}

/**
 * Fails if a resource of the API has no matrix yet. Call it after the expectations about single resources.
 * @throws When `expectAccess` was not called for a resource.
 * @example
 * afterAll(() => expectEveryResource(api))
 */
export async function expectEveryResource(api: TestApi): Promise<void> {
  const names = expectedResources(api)
  const forgotten = [...(await discover(api)).resources.keys()].filter(name => !names.includes(name))
  if (forgotten.length === 0) return
  throw new Error(`[auto-api] No access matrix was compared for ${forgotten.map(quote).join(', ')}. Add \`expectAccess(api, name)\`.`)
}
