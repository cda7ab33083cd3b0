/** The resources as the pages show them: columns, filters and relations. */
import type * as tables from '../server/database/schema'

/** The kind of a column, which decides its operators. */
export type FieldKind = 'number' | 'text' | 'date' | 'boolean' | 'json' | readonly string[]

export interface RelationView {
  /** Name of the related resource. */
  readonly to: string
  readonly many?: true
}

export interface ResourceView {
  readonly name: string
  readonly label: string
  /** Columns of the table. */
  readonly columns: readonly string[]
  readonly fields: Readonly<Record<string, FieldKind>>
  readonly relations: Readonly<Record<string, RelationView>>
  /** The column that names a row in the trash; missing for a resource without a trash. */
  readonly trash?: string
}

export type Row = Record<string, unknown>

/** Makes the compiler check the names of the columns. */
type FieldsOf<T extends { $inferSelect: object }, Hidden extends string = never> = Readonly<
  Record<Exclude<keyof T['$inferSelect'] & string, Hidden>, FieldKind>
>

const timestamps = { createdAt: 'date', updatedAt: 'date' } as const
const audit = { createdBy: 'number', updatedBy: 'number' } as const
const softDelete = { deletedAt: 'date', deletedBy: 'number', deletionId: 'text', deletedReason: 'text' } as const

const posts = {
  id: 'number',
  organizationId: 'number',
  authorId: 'number',
  title: 'text',
  slug: 'text',
  excerpt: 'text',
  body: 'text',
  status: ['draft', 'published', 'archived'],
  featured: 'boolean',
  views: 'number',
  publishedAt: 'date',
  ...timestamps,
  ...audit,
  ...softDelete,
} as const satisfies FieldsOf<typeof tables.posts>

const comments = {
  id: 'number', organizationId: 'number', postId: 'number', authorId: 'number', body: 'text',
  status: ['pending', 'approved', 'rejected'], ...timestamps, ...audit, ...softDelete,
} as const satisfies FieldsOf<typeof tables.comments>

const tags = { id: 'number', organizationId: 'number', name: 'text', slug: 'text', ...timestamps } as const satisfies FieldsOf<
  typeof tables.tags
>

const media = {
  id: 'text', organizationId: 'number', postId: 'number', uploaderId: 'number', kind: ['image', 'video', 'audio', 'document'],
  filename: 'text', mimeType: 'text', bytes: 'number', alt: 'text', details: 'json', ...timestamps, ...audit,
} as const satisfies FieldsOf<typeof tables.media>

const users = {
  id: 'number',
  organizationId: 'number',
  name: 'text',
  email: 'text',
  role: ['reader', 'writer', 'editor', 'admin'],
  salary: 'number',
  active: 'boolean',
  ...timestamps,
} as const satisfies FieldsOf<typeof tables.users, 'passwordHash'>

const organizations = { id: 'number', name: 'text', slug: 'text', city: 'text', ...timestamps } as const satisfies FieldsOf<
  typeof tables.organizations
>

const ORGANIZATION = { organization: { to: 'organizations' } } as const

export const RESOURCES: readonly [ResourceView, ...ResourceView[]] = [
  {
    name: 'posts',
    label: 'Posts',
    columns: ['id', 'title', 'status', 'authorId', 'publishedAt'],
    fields: posts,
    relations: {
      author: { to: 'users' },
      comments: { to: 'comments', many: true },
      tags: { to: 'tags', many: true },
      media: { to: 'media', many: true },
      ...ORGANIZATION,
    },
    trash: 'title',
  },
  {
    name: 'comments',
    label: 'Comments',
    columns: ['id', 'body', 'status', 'postId', 'createdAt'],
    fields: comments,
    relations: { post: { to: 'posts' }, author: { to: 'users' }, ...ORGANIZATION },
    trash: 'body',
  },
  {
    name: 'tags',
    label: 'Tags',
    columns: ['id', 'name', 'slug'],
    fields: tags,
    relations: { posts: { to: 'posts', many: true }, ...ORGANIZATION },
  },
  {
    name: 'media',
    label: 'Media',
    columns: ['filename', 'kind', 'bytes', 'postId'],
    fields: media,
    relations: { post: { to: 'posts' }, uploader: { to: 'users' }, ...ORGANIZATION },
  },
  {
    name: 'users',
    label: 'Users',
    columns: ['id', 'name', 'role', 'email', 'salary'],
    fields: users,
    relations: {
      posts: { to: 'posts', many: true },
      comments: { to: 'comments', many: true },
      media: { to: 'media', many: true },
      ...ORGANIZATION,
    },
  },
  {
    name: 'organizations',
    label: 'Organisations',
    columns: ['id', 'name', 'city'],
    fields: organizations,
    relations: {
      users: { to: 'users', many: true },
      posts: { to: 'posts', many: true },
      comments: { to: 'comments', many: true },
      tags: { to: 'tags', many: true },
      media: { to: 'media', many: true },
    },
  },
]

/** The resource with this name, otherwise the first one. */
export function findResource(name: unknown): ResourceView {
  return RESOURCES.find(resource => resource.name === name) ?? RESOURCES[0]
}
