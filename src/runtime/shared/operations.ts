/** What a caller may be allowed to do with a resource, and what each permission falls back to when it is not declared. */

export const OPERATIONS = ['read', 'create', 'update', 'delete', 'aggregate', 'restore', 'purge', 'viewDeleted'] as const

export type Operation = typeof OPERATIONS[number]

/** An undeclared permission is decided by the one it falls back to; an operation that is not listed here is refused. */
export const FALLBACKS: Readonly<Partial<Record<Operation, Operation>>> = Object.freeze({
  aggregate: 'read',
  restore: 'update',
  purge: 'delete',
  viewDeleted: 'restore',
})
