/** Demo users of the public organisation, and the posts that anonymous callers see. */

export const ADMIN = 1
export const EDITOR = 2
export const WRITER = 4
/** Of another organisation. */
export const OTHER_ADMIN = 11

/** The condition of the posts that anonymous callers read. */
export const PUBLIC = 'organization_id = 1 and status = \'published\' and deleted_at is null'
