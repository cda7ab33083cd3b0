/** Table specs for every dialect. The newsroom has every column type, kind of key and kind of relation. */
import type { Kind } from '../oracle/model'

/** A kind of column; `!` marks a NOT NULL column. */
export type Spelled = Kind | `${Kind}!`

export interface TableSpec {
  readonly columns: Readonly<Record<string, Spelled>>
  readonly key: readonly string[]
  /** Foreign keys: the referenced table and the own columns. A table comes after the tables it references. */
  readonly references?: readonly (readonly [table: string, ...columns: string[]])[]
}

export type Specs = Readonly<Record<string, TableSpec>>

export const NEWSROOM = {
  authors: {
    columns: {
      id: 'text!',
      organizationId: 'integer!',
      name: 'text!',
      nickname: 'text',
      rating: 'real',
      active: 'boolean',
      born: 'date',
      karma: 'bigint',
      fee: 'decimal',
      bio: 'json',
      avatar: 'blob',
      mentorId: 'text',
      secret: 'text',
      salary: 'integer',
    },
    key: ['id'],
    references: [['authors', 'mentorId']],
  },
  sections: {
    columns: { desk: 'text!', number: 'integer!', organizationId: 'integer!', name: 'text', opened: 'date' },
    key: ['desk', 'number'],
  },
  articles: {
    columns: {
      id: 'integer!',
      organizationId: 'integer!',
      authorId: 'text',
      editorId: 'text',
      ghostId: 'text',
      reviewerId: 'text',
      desk: 'text',
      sectionId: 'integer',
      parentId: 'integer',
      title: 'text!',
      status: 'text!',
      words: 'integer',
      score: 'real',
      featured: 'boolean',
      publishedAt: 'date',
      views: 'bigint',
      price: 'decimal',
      meta: 'json',
      cover: 'blob',
      secret: 'text',
      margin: 'integer',
      deletedAt: 'date',
    },
    key: ['id'],
    references: [
      ['authors', 'authorId'],
      ['authors', 'editorId'],
      ['authors', 'ghostId'],
      ['authors', 'reviewerId'],
      ['articles', 'parentId'],
      ['sections', 'desk', 'sectionId'],
    ],
  },
  tags: {
    columns: {
      id: 'integer!',
      label: 'text!',
      weight: 'integer',
      since: 'date',
      hits: 'bigint',
      price: 'decimal',
      ratio: 'real',
      active: 'boolean',
    },
    key: ['id'],
  },
  /** A junction table that is not a resource. */
  articleTags: {
    columns: { articleId: 'integer!', tagId: 'integer!' },
    key: ['articleId', 'tagId'],
    references: [
      ['articles', 'articleId'],
      ['tags', 'tagId'],
    ],
  },
  /** A junction table that is a resource, with a row filter. */
  credits: {
    columns: { articleId: 'integer!', authorId: 'text!', role: 'text!', share: 'decimal' },
    key: ['articleId', 'authorId'],
    references: [
      ['articles', 'articleId'],
      ['authors', 'authorId'],
    ],
  },
  /** Keys larger than a double can hold, and mostly NOT NULL columns. */
  entries: {
    columns: { id: 'bigint!', parentId: 'bigint', note: 'text!', amount: 'decimal!', at: 'date!', done: 'boolean!', ratio: 'real!' },
    key: ['id'],
    references: [['entries', 'parentId']],
  },
} as const satisfies Specs

export type TableName = keyof typeof NEWSROOM

/** The values of text columns with an enum. */
export const ENUMS: Readonly<Record<string, readonly [string, ...string[]]>> = { status: ['draft', 'published', 'archived'] }

export const kindOf = (spelled: Spelled) => spelled.replace('!', '') as Kind
