/** The capabilities of a caller on a resource, with their labels, in the order of the columns. */
export const CAPABILITIES = {
  canRead: 'Read',
  canCreate: 'Create',
  canUpdate: 'Update',
  canDelete: 'Delete',
  canAggregate: 'Aggregate',
  canRestore: 'Restore',
  canPurge: 'Purge',
  canViewDeleted: 'View trash',
} as const satisfies Readonly<Record<`can${string}`, string>>
