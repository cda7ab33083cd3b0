/** What the API says a caller may do with a resource, and in which words the pages repeat it: in the order of the columns. */
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
