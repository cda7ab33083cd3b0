/** Texts of the activity feed. The app can replace each of them. */

export const MESSAGES = {
  'overview.activity': 'Recent activity',
  'activity.all': 'Show all',
  'activity.created': 'created',
  'activity.updated': 'updated',
  'activity.deleted': 'deleted',
  'activity.restored': 'restored',
  'activity.empty': 'Nothing has happened yet',
  'activity.empty.help': 'Create, change or delete a record. It appears here, with who has done it and when.',
  'activity.anonymous': 'Somebody',
  'activity.times': '{count} change | {count} changes',
} as const
