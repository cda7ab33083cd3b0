/** Which rows of a table with soft delete a request is about. */
export type TrashMode = 'active' | 'trashed' | 'both'
