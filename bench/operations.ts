/** What is measured: per operation the requests that a round repeats, and what every answer must look like. */
import type { Sample } from './dataset.ts'

/** A request below a contestant's own path, on behalf of a caller. */
export interface Ask {
  readonly caller?: number
  readonly path: string
  /** A write: what is sent. */
  readonly body?: unknown
}

export interface Operation {
  readonly title: string
  readonly asks: (sample: Sample) => readonly Ask[]
  /** Guards against contestants that agree on a wrong answer. */
  readonly isRight: (body: unknown) => boolean
  /** How many rows one request writes. */
  readonly writes?: number
  /** A write: its status. Ids and times differ between contestants, everything else of the answers must not. */
  readonly status?: number
}

const PAGES = [1, 2, 3, 4, 5]

const query = (parameters: Record<string, string>) => `?${new URLSearchParams({ limit: '20', count: 'none', ...parameters })}`
const pages = (parameters: Record<string, string>): Operation['asks'] => ({ callers }) =>
  PAGES.flatMap(page => callers.map(({ id }) => ({ caller: id, path: query({ ...parameters, page: String(page) }) })))

/** A post as a client sends it; the writer is its own author. */
const draft = (author: number, place: number) => ({ title: `Bench ${place}`, slug: `bench-${place}`, excerpt: 'Written to be measured.', authorId: author })

const isPage = (body: unknown) => (body as { data?: unknown[] } | null)?.data?.length === 20

export const OPERATIONS: readonly Operation[] = [
  {
    title: 'list 20',
    asks: ({ callers }) => PAGES.flatMap(page => callers.map(({ id }) => ({ caller: id, path: `?limit=20&page=${page}&count=none` }))),
    isRight: isPage,
  },
  {
    title: 'list 20 + total',
    asks: ({ callers }) => PAGES.flatMap(page => callers.map(({ id }) => ({ caller: id, path: `?limit=20&page=${page}` }))),
    isRight: isPage,
  },
  { title: 'filter + sort', asks: pages({ filter: '{"featured":true}', sort: '-views' }), isRight: isPage },
  {
    title: 'include author',
    asks: pages({ include: 'author[id,name]' }),
    isRight: body => isPage(body) && (body as { data: { author?: { name?: unknown } }[] }).data.every(({ author }) => typeof author?.name === 'string'),
  },
  {
    title: 'get',
    asks: ({ callers }) => callers.flatMap(({ id, visible }) => visible.map(post => ({ caller: id, path: `/${post}` }))),
    isRight: body => typeof (body as { title?: unknown } | null)?.title === 'string',
  },
  {
    title: 'create',
    writes: 1,
    status: 201,
    asks: ({ writer }) => [{ caller: writer, path: '', body: draft(writer, 1) }],
    isRight: body => (body as { title?: unknown }).title === 'Bench 1',
  },
  {
    title: 'bulk create of 100',
    writes: 100,
    status: 200,
    asks: ({ writer }) => [{ caller: writer, path: '/bulk', body: { items: Array.from({ length: 100 }, (_, place) => draft(writer, place)) } }],
    isRight: body => (body as { data?: unknown[] }).data?.length === 100,
  },
]

/** Never measured: requests that every contestant must refuse alike, or it did less work than the others. */
export const REFUSALS: readonly { title: string, status: number, ask: (sample: Sample) => Ask }[] = [
  { title: 'a list for nobody', status: 401, ask: () => ({ path: '' }) },
  { title: 'a list without the permission', status: 403, ask: ({ guest }) => ({ caller: guest, path: '' }) },
  { title: 'a page 0', status: 400, ask: ({ writer }) => ({ caller: writer, path: '?page=0' }) },
  { title: 'a post that is not there', status: 404, ask: ({ writer }) => ({ caller: writer, path: '/999999999' }) },
  { title: 'a post of another organisation', status: 404, ask: ({ writer, foreign }) => ({ caller: writer, path: `/${foreign}` }) },
  { title: 'the draft of a colleague', status: 404, ask: ({ writer, draft }) => ({ caller: writer, path: `/${draft}` }) },
]
