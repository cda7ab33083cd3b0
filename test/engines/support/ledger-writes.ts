/** Requests with every kind of change to the tables of the ledger. */
export type Request = readonly [method: string, path: string, body?: unknown]

export const WRITES: readonly (readonly [string, readonly Request[]])[] = [
  [
    'a create',
    [
      [
        'POST',
        'articles',
        { title: 'new', data: { deep: ['ü', 1.5] }, price: '0.1000000001', big: '9007199254740995', at: '2026-02-03T04:05:06.789Z' },
      ],
    ],
  ],
  ['a create with bytes', [['POST', 'articles', { title: 'b', bytes: 'AP8Q' }]]],
  ['a create of a row that refers to another', [['POST', 'comments', { body: 'hi', articleId: 1 }]]],
  [
    'a bulk create with different columns',
    [['POST', 'articles/bulk', { items: [{ title: 'a' }, { title: 'b', price: '3' }, { title: 'c' }] }]],
  ],
  ['an update', [['PATCH', 'articles/1', { title: 'other', data: { a: [1, 'x'] } }]]],
  ['an update to the same values', [['PATCH', 'articles/2', { title: 'two' }]]],
  ['an update without values', [['PATCH', 'articles/2', {}]]],
  ['an update to NULL', [['PATCH', 'articles/1', { price: null, big: null, bytes: null, data: null, at: null }]]],
  [
    'a bulk update',
    [
      [
        'PATCH',
        'articles/bulk',
        {
          items: [
            { id: 1, data: { title: 'x' } },
            { id: 2, data: { price: '9' } },
            { id: 3, data: {} },
          ],
        },
      ],
    ],
  ],
  ['a delete with its cascade', [['DELETE', 'articles/1']]],
  ['a bulk delete whose rows depend on each other', [['DELETE', 'comments/bulk', { ids: [11, 111, 12] }]]],
  [
    'a restore',
    [
      ['DELETE', 'articles/1'],
      ['POST', 'articles/1/restore'],
    ],
  ],
  ['a bulk restore', [['POST', 'articles/bulk/restore', { ids: [4, 5] }]]],
  ['a restore of a group', [['POST', 'articles/bulk/restore', { deletionId: 'd4' }]]],
  [
    'a purge of a group',
    [
      ['DELETE', 'articles/bulk?force=true', { deletionId: 'd42' }],
      ['DELETE', 'articles/bulk?force=true', { deletionId: 'd4' }],
    ],
  ],
  ['a purge with its cascade and cleared references', [['DELETE', 'articles/1?force=true']]],
  ['a bulk purge', [['DELETE', 'articles/bulk?force=true', { ids: [1, 4] }]]],
  ['a purge in a table that references itself', [['DELETE', 'comments/bulk?force=true', { ids: [111, 11] }]]],
  ['a delete from a table without trash', [['DELETE', 'bookmarks/1']]],
  ['a bulk delete from a table without trash', [['DELETE', 'bookmarks/bulk', { ids: [1, 2, 4] }]]],
  ['added links', [['POST', 'articles/1/relations/tags', { ids: [2, 3] }]]],
  ['removed links', [['DELETE', 'articles/1/relations/tags', { ids: [1, 3] }]]],
  ['replaced links', [['PUT', 'articles/1/relations/tags', { ids: [2, 3] }]]],
  ['links of a registered junction, one of them restored', [['POST', 'articles/1/relations/labels', { ids: [2, 3] }]]],
  ['removed links of a registered junction', [['DELETE', 'articles/1/relations/labels', { ids: [1, 2] }]]],
  ['replaced links of a registered junction', [['PUT', 'articles/1/relations/labels', { ids: [2, 3] }]]],
  ['links in the body of an update', [['PATCH', 'articles/1', { title: 'x', tags: { link: [2, 3], unlink: [1] }, labels: { link: [2, 3], unlink: [1] } }]]],
  ['links of a new record', [['POST', 'articles', { title: 'new', tags: { link: [1, 3] }, labels: { link: [1, 2] } }]]],
  ['links in a bulk', [['PATCH', 'articles/bulk', { items: [{ id: 1, data: { tags: { link: [3] } } }, { id: 2, data: { title: 'y', labels: { link: [1] } } }] }]]],
  ['a batch of every operation', [['POST', 'batch', { steps: [
    { resource: 'articles', operation: 'create', data: { title: 'new' }, as: 'article' },
    { resource: 'comments', operation: 'create', data: { body: 'hi', articleId: { $ref: 'article.id' } } },
    { resource: 'articles', operation: 'update', id: 2, data: { title: 'other' } },
    { resource: 'articles', operation: 'delete', id: 1 },
    { resource: 'articles', operation: 'restore', id: 5 },
    { resource: 'bookmarks', operation: 'delete', id: 4 },
  ] }]]],
  ['replaced links of several relations', [['PUT', 'articles/1/relations', { relations: { tags: { ids: [3] }, labels: { ids: [] } } }]]],
]
