/** The same requests of several callers, sent for real, with the header of each caller. The second one would delete a post, and is rolled back. */

/** Users of the demo; `null` is an anonymous caller. */
const CALLERS = [null, '4', '11'] as const

export const COMPARED_LIST = '/api/posts?limit=5'

export interface ComparedRow { readonly id: number, readonly title: string, readonly status: string }

export interface Compared {
  readonly caller: string | null
  readonly status: number
  readonly rows: readonly ComparedRow[]
  readonly total: number
  readonly refusal: { readonly status: number, readonly message: string }
}

interface List { readonly data?: ComparedRow[], readonly meta?: { readonly total: number } }

async function ask<T>(caller: string | null, path: string, method: 'GET' | 'DELETE' = 'GET') {
  // Without the header, a request of the browser would have the caller of the page.
  const { status, _data } = await $fetch.raw<T>(path, { method, headers: { 'x-demo-user': caller ?? '' }, ignoreResponseError: true, retry: 0 })
  return { status, body: _data as T | undefined }
}

interface Comparison {
  /** The id of the post in the second request. */
  readonly post: number | undefined
  readonly columns: readonly Compared[]
}

async function compare(): Promise<Comparison> {
  const lists = await Promise.all(CALLERS.map(caller => ask<List>(caller, COMPARED_LIST)))
  const post = lists[0]?.body?.data?.[0]?.id
  const refusals = await Promise.all(CALLERS.map(caller => ask<{ message?: string }>(caller, `/api/posts/${post}?dryRun=true`, 'DELETE')))
  const columns = CALLERS.map((caller, index): Compared => ({
    caller,
    status: lists[index]!.status,
    rows: (lists[index]!.body?.data ?? []).map(({ id, title, status }) => ({ id, title, status })),
    total: lists[index]!.body?.meta?.total ?? 0,
    refusal: { status: refusals[index]!.status, message: refusals[index]!.body?.message ?? '' },
  }))
  return { post, columns }
}

/** Sends the requests once for each visit of the site, on the server if the visit begins with the front page. */
export function useComparison() {
  const comparison = useState<Comparison>('comparison')
  const load = async () => void (comparison.value ??= await compare())
  onServerPrefetch(load)
  onMounted(load)
  return comparison
}
