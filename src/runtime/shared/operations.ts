/** The operations of a resource, and the permission that decides each one if its own is not declared. */

export const OPERATIONS = ['read', 'create', 'update', 'delete', 'aggregate', 'restore', 'purge', 'viewDeleted'] as const

export type Operation = typeof OPERATIONS[number]

/** Operation → the operation whose permission decides it if its own is not declared. Other undeclared operations are refused. */
export const FALLBACKS: Readonly<Partial<Record<Operation, Operation>>> = Object.freeze({
  aggregate: 'read',
  restore: 'update',
  purge: 'delete',
  viewDeleted: 'restore',
})
