/** The measured operations: the requests of a round, and a check of their responses. */
import type { Sample } from './dataset.ts'

/** A request of a caller to the posts of an implementation. */
export interface BenchRequest {
  /** Id of the user; anonymous without it. */
  readonly caller?: number
  /** After the path of the implementation's posts. */
  readonly path: string
  /** Only for writes. */
  readonly body?: unknown
  /** @default POST with a body, otherwise GET */
  readonly method?: 'PATCH'
  /** The tag of the response that the client has. The response is then a 304. */
  readonly ifNoneMatch?: string
}

export interface Operation {
  readonly title: string
  readonly requests: (sample: Sample) => readonly BenchRequest[]
  /** `false` leaves out the other packages. */
  readonly peers?: false
  /**
   * The body that `isCorrect` checks.
   * @default JSON.parse
   */
  readonly parse?: (text: string) => unknown
  /** Detects a wrong response that all implementations agree on. */
  readonly isCorrect: (body: unknown) => boolean
  /** Only for writes: rows that one request writes. */
  readonly writes?: number
  /** Only for writes: the status. Ids and times of the responses can differ between implementations; everything else must be equal. */
  readonly status?: number
}

const PAGES = [1, 2, 3, 4, 5]

const query = (parameters: Record<string, string>) => `?${new URLSearchParams({ limit: '20', count: 'none', ...parameters })}`
const pages = (parameters: Record<string, string>): Operation['requests'] => ({ callers }) =>
  PAGES.flatMap(page => callers.map(({ id }) => ({ caller: id, path: query({ ...parameters, page: String(page) }) })))

/** The body of a new post. */
const draft = (author: number, index: number) => ({
  title: `Bench ${index}`,
  slug: `bench-${index}`,
  excerpt: 'Written to be measured.',
  authorId: author,
})

const isPage = (body: unknown) => (body as { data?: unknown[] } | null)?.data?.length === 20

export const OPERATIONS: readonly Operation[] = [
  {
    title: 'list 20',
    requests: ({ callers }) => PAGES.flatMap(page => callers.map(({ id }) => ({ caller: id, path: `?limit=20&page=${page}&count=none` }))),
    isCorrect: isPage,
  },
  {
    title: 'list 20 + total',
    requests: ({ callers }) => PAGES.flatMap(page => callers.map(({ id }) => ({ caller: id, path: `?limit=20&page=${page}` }))),
    isCorrect: isPage,
  },
  { title: 'filter + sort', requests: pages({ filter: '{"featured":true}', sort: '-views' }), isCorrect: isPage },
  {
    title: 'include author',
    requests: pages({ include: 'author[id,name]' }),
    isCorrect: body =>
      isPage(body) && (body as { data: { author?: { name?: unknown } }[] }).data.every(({ author }) => typeof author?.name === 'string'),
  },
  {
    title: 'include comments and tags',
    peers: false,
    requests: pages({ include: 'comments[id,body],tags[id,name]' }),
    isCorrect: (body) => {
      const { data } = body as { data: { comments: { body: string }[], tags: { name: string }[] }[] }
      return isPage(body) && data.some(({ comments }) => comments.length > 1) && data.some(({ tags }) => tags.length > 1)
    },
  },
  {
    title: 'counts of comments and tags',
    peers: false,
    requests: pages({ counts: 'comments,tags' }),
    isCorrect: (body) => {
      const { data } = body as { data: { _count: { comments: number, tags: number } }[] }
      return isPage(body) && data.some(({ _count }) => _count.comments > 1) && data.some(({ _count }) => _count.tags > 1)
    },
  },
  {
    title: 'filter over two relations',
    peers: false,
    requests: pages({ filter: '{"author":{"posts":{"featured":true}}}' }),
    isCorrect: isPage,
  },
  {
    title: 'computed field',
    peers: false,
    requests: pages({ fields: 'id,title,titleLength' }),
    isCorrect: body =>
      isPage(body) && (body as { data: { title: string, titleLength: number }[] }).data
        .every(({ title, titleLength }) => titleLength === title.length),
  },
  {
    title: 'get',
    requests: ({ callers }) => callers.flatMap(({ id, visible }) => visible.map(post => ({ caller: id, path: `/${post}` }))),
    isCorrect: body => typeof (body as { title?: unknown } | null)?.title === 'string',
  },
  {
    title: 'create',
    writes: 1,
    status: 201,
    requests: ({ writer }) => [{ caller: writer, path: '', body: draft(writer, 1) }],
    isCorrect: body => (body as { title?: unknown }).title === 'Bench 1',
  },
  {
    title: 'bulk create of 100',
    writes: 100,
    status: 200,
    requests: ({ writer }) => [
      { caller: writer, path: '/bulk', body: { items: Array.from({ length: 100 }, (_, index) => draft(writer, index)) } },
    ],
    isCorrect: body => (body as { data?: unknown[] }).data?.length === 100,
  },
  {
    title: 'bulk create of 100 with 10 comments each',
    peers: false,
    writes: 1_100,
    status: 200,
    requests: ({ writer }) => {
      const comments = { create: Array.from({ length: 10 }, (_, index) => ({ body: `Comment ${index}, written to be measured.` })) }
      return [{
        caller: writer,
        path: '/bulk',
        body: { items: Array.from({ length: 100 }, (_, index) => ({ ...draft(writer, index), comments })) },
      }]
    },
    isCorrect: body => (body as { data?: unknown[] }).data?.length === 100,
  },
]

/** Requests that every implementation must refuse, so that none of them skips a check. They are not measured. */
export const REFUSALS: readonly { title: string, status: number, request: (sample: Sample) => BenchRequest }[] = [
  { title: 'a list for an anonymous caller', status: 401, request: () => ({ path: '' }) },
  { title: 'a list without the permission', status: 403, request: ({ guest }) => ({ caller: guest, path: '' }) },
  { title: 'a page 0', status: 400, request: ({ writer }) => ({ caller: writer, path: '?page=0' }) },
  { title: 'a missing post', status: 404, request: ({ writer }) => ({ caller: writer, path: '/999999999' }) },
  { title: 'a post of another organization', status: 404, request: ({ writer, foreign }) => ({ caller: writer, path: `/${foreign}` }) },
  { title: 'a draft of a colleague', status: 404, request: ({ writer, draft }) => ({ caller: writer, path: `/${draft}` }) },
]
