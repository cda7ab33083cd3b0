/** The operations of a resource, and the fallback permissions of operations whose own permission is not declared. */

export const OPERATIONS = ['read', 'create', 'update', 'delete', 'aggregate', 'restore', 'purge', 'viewDeleted'] as const

export type Operation = typeof OPERATIONS[number]

/** The operations that change rows. The resource of a view has none of them. */
export const WRITE_OPERATIONS = Object.freeze(['create', 'update', 'delete', 'restore', 'purge'] as const satisfies readonly Operation[])

/**
 * Maps an operation to its fallback. If the permission of the operation is not declared, the permission of the fallback decides. An
 * operation without a declared permission and without a fallback is refused.
 */
export const FALLBACKS: Readonly<Partial<Record<Operation, Operation>>> = Object.freeze({
  aggregate: 'read',
  restore: 'update',
  purge: 'delete',
  viewDeleted: 'restore',
})
