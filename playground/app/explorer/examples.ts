/** Example queries, one per feature of the query language. */
import { newDraft, type Draft } from './draft'

export interface Example { readonly label: string, readonly draft: Draft }

const BRIEF = ['id', 'title', 'views', 'publishedAt']

export const EXAMPLES: readonly Example[] = [
  { label: 'Most read', draft: newDraft({ fields: BRIEF, sort: [{ field: 'views', descending: true }], limit: 5 }) },
  {
    label: 'Featured in 2025, at least 1 000 views',
    draft: newDraft({
      fields: BRIEF,
      conditions: [
        { field: 'featured', operator: '$eq', value: 'true' },
        { field: 'publishedAt', operator: '$gte', value: '2025-01-01' },
        { field: 'publishedAt', operator: '$lt', value: '2026-01-01' },
        { field: 'views', operator: '$gte', value: '1000' },
      ],
    }),
  },
  {
    label: 'About the tram or the bus',
    draft: newDraft({
      fields: BRIEF,
      match: 'any',
      conditions: [{ field: 'title', operator: '$like', value: 'tram' }, { field: 'title', operator: '$like', value: 'bus' }],
    }),
  },
  {
    label: 'With tags and the first two comments',
    draft: newDraft({
      fields: ['id', 'title'],
      sort: [{ field: 'publishedAt', descending: true }],
      include: { tags: { limit: 0, include: {} }, comments: { limit: 2, include: {} } },
      limit: 5,
    }),
  },
  {
    label: 'Three levels deep (sign in)',
    draft: newDraft({
      fields: ['id', 'title'],
      sort: [{ field: 'publishedAt', descending: true }],
      include: { comments: { limit: 0, include: { author: { limit: 0, include: { organization: { limit: 0, include: {} } } } } } },
      limit: 5,
    }),
  },
  {
    label: 'Newest first, by cursor',
    draft: newDraft({ fields: BRIEF, sort: [{ field: 'publishedAt', descending: true }], paging: 'cursor', limit: 5 }),
  },
  {
    label: 'A page and its sums',
    draft: newDraft({
      fields: BRIEF,
      limit: 5,
      aggregates: [{ function: 'count', field: '' }, { function: 'sum', field: 'views' }, { function: 'max', field: 'publishedAt' }],
    }),
  },
  {
    label: 'Views by author',
    draft: newDraft({
      aggregates: [{ function: 'count', field: '' }, { function: 'avg', field: 'views' }],
      groupBy: ['authorId'],
      sort: [{ field: 'count', descending: true }],
    }),
  },
  { label: 'From the response cache', draft: newDraft({ resource: 'organizations', fields: ['id', 'name', 'city'] }) },
  { label: 'The trash (editors)', draft: newDraft({ fields: ['id', 'title', 'deletedAt', 'deletedReason'], trash: 'only' }) },
]
