/** Users of the public organisation, by what they may do, and what those see who are none. */

export const ADMIN = 1
export const EDITOR = 2
export const WRITER = 4

/** The posts that the public reads. */
export const PUBLIC = 'organization_id = 1 and status = \'published\' and deleted_at is null'
