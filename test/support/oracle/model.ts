/** The oracle's model of the newsroom: columns, keys, relations and visibility, written by hand without imports from the module. */

export type Kind = 'text' | 'integer' | 'real' | 'boolean' | 'date' | 'bigint' | 'decimal' | 'json' | 'blob'

export type Row = Record<string, unknown>

export interface Viewer {
  readonly tenant: number
  readonly permissions: readonly string[]
}

export interface RelationModel {
  readonly kind: 'one' | 'many' | 'manyToMany'
  readonly target: string
  /** Pairs of an own column and the joined column of the target or of the junction table. */
  readonly on: readonly (readonly [string, string])[]
  readonly junction?: string
  /** Pairs of a column of the junction table and a column of the target. */
  readonly there?: readonly (readonly [string, string])[]
  /** What the coverage counts for the relation. */
  readonly trait?: 'self' | 'composite' | 'bigint'
}

export interface ResourceModel {
  readonly key: readonly string[]
  readonly fields: Readonly<Record<string, Kind>>
  readonly nullable: readonly string[]
  readonly visible: (row: Row, viewer: Viewer) => boolean
  /** Whether the resource has soft delete; `visible` ignores it. */
  readonly trash?: true
  readonly relations: Readonly<Record<string, RelationModel>>
  /** Whether a rule in code checks each row, so that no filter can name a relation to the resource. */
  readonly judged?: true
  /** Fields that require a permission. */
  readonly restricted?: Readonly<Record<string, string>>
}

const ofTenant = (row: Row, viewer: Viewer) => row.organizationId === viewer.tenant

export const MODEL: Readonly<Record<string, ResourceModel>> = {
  authors: {
    key: ['id'],
    fields: {
      id: 'text',
      organizationId: 'integer',
      name: 'text',
      nickname: 'text',
      rating: 'real',
      active: 'boolean',
      born: 'date',
      karma: 'bigint',
      fee: 'decimal',
      bio: 'json',
      avatar: 'blob',
      mentorId: 'text',
      salary: 'integer',
    },
    nullable: ['nickname', 'rating', 'active', 'born', 'karma', 'fee', 'bio', 'avatar', 'mentorId', 'salary'],
    restricted: { salary: 'hr' },
    visible: ofTenant,
    relations: {
      mentor: { kind: 'one', target: 'authors', on: [['mentorId', 'id']], trait: 'self' },
      authors: { kind: 'many', target: 'authors', on: [['id', 'mentorId']], trait: 'self' },
      articlesByAuthor: { kind: 'many', target: 'articles', on: [['id', 'authorId']] },
      articlesByEditor: { kind: 'many', target: 'articles', on: [['id', 'editorId']] },
      articles: { kind: 'manyToMany', target: 'articles', on: [['id', 'authorId']], junction: 'credits', there: [['articleId', 'id']] },
      credits: { kind: 'many', target: 'credits', on: [['id', 'authorId']] },
    },
  },
  articles: {
    key: ['id'],
    fields: {
      id: 'integer',
      organizationId: 'integer',
      authorId: 'text',
      editorId: 'text',
      reviewerId: 'text',
      desk: 'text',
      sectionId: 'integer',
      parentId: 'integer',
      title: 'text',
      status: 'text',
      words: 'integer',
      score: 'real',
      featured: 'boolean',
      publishedAt: 'date',
      views: 'bigint',
      price: 'decimal',
      meta: 'json',
      cover: 'blob',
      margin: 'integer',
      deletedAt: 'date',
    },
    nullable: [
      'authorId',
      'editorId',
      'reviewerId',
      'desk',
      'sectionId',
      'parentId',
      'words',
      'score',
      'featured',
      'publishedAt',
      'views',
      'price',
      'meta',
      'cover',
      'margin',
      'deletedAt',
    ],
    restricted: { margin: 'hr', reviewerId: 'hr' },
    trash: true,
    visible: (row, viewer) => ofTenant(row, viewer) && (row.status !== 'draft' || viewer.permissions.includes('drafts')),
    relations: {
      author: { kind: 'one', target: 'authors', on: [['authorId', 'id']] },
      editor: { kind: 'one', target: 'authors', on: [['editorId', 'id']] },
      section: {
        kind: 'one',
        target: 'sections',
        on: [
          ['desk', 'desk'],
          ['sectionId', 'number'],
        ],
        trait: 'composite',
      },
      parent: { kind: 'one', target: 'articles', on: [['parentId', 'id']], trait: 'self' },
      articles: { kind: 'many', target: 'articles', on: [['id', 'parentId']], trait: 'self' },
      tags: { kind: 'manyToMany', target: 'tags', on: [['id', 'articleId']], junction: 'articleTags', there: [['tagId', 'id']] },
      authors: { kind: 'manyToMany', target: 'authors', on: [['id', 'articleId']], junction: 'credits', there: [['authorId', 'id']] },
      credits: { kind: 'many', target: 'credits', on: [['id', 'articleId']] },
    },
  },
  sections: {
    key: ['desk', 'number'],
    fields: { desk: 'text', number: 'integer', organizationId: 'integer', name: 'text', opened: 'date' },
    nullable: ['name', 'opened'],
    visible: ofTenant,
    relations: {
      articles: {
        kind: 'many',
        target: 'articles',
        on: [
          ['desk', 'desk'],
          ['number', 'sectionId'],
        ],
        trait: 'composite',
      },
    },
  },
  tags: {
    key: ['id'],
    fields: {
      id: 'integer',
      label: 'text',
      weight: 'integer',
      since: 'date',
      hits: 'bigint',
      price: 'decimal',
      ratio: 'real',
      active: 'boolean',
    },
    nullable: ['weight', 'since', 'hits', 'price', 'ratio', 'active'],
    judged: true,
    visible: row => row.weight === null || (row.weight as number) % 5 !== 0 || row.weight === 0,
    relations: {
      articles: { kind: 'manyToMany', target: 'articles', on: [['id', 'tagId']], junction: 'articleTags', there: [['articleId', 'id']] },
    },
  },
  credits: {
    key: ['articleId', 'authorId'],
    fields: { articleId: 'integer', authorId: 'text', role: 'text', share: 'decimal' },
    nullable: ['share'],
    visible: row => row.role !== 'hidden',
    relations: {
      article: { kind: 'one', target: 'articles', on: [['articleId', 'id']] },
      author: { kind: 'one', target: 'authors', on: [['authorId', 'id']] },
    },
  },
  entries: {
    key: ['id'],
    fields: { id: 'bigint', parentId: 'bigint', note: 'text', amount: 'decimal', at: 'date', done: 'boolean', ratio: 'real' },
    nullable: ['parentId'],
    visible: () => true,
    relations: {
      parent: { kind: 'one', target: 'entries', on: [['parentId', 'id']], trait: 'bigint' },
      entries: { kind: 'many', target: 'entries', on: [['id', 'parentId']], trait: 'bigint' },
    },
  },
}

/** The fields a caller can read, by kind. */
export function readable({ fields, restricted = {} }: ResourceModel, viewer: Viewer): Readonly<Record<string, Kind>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => restricted[name] === undefined || viewer.permissions.includes(restricted[name])),
  )
}
