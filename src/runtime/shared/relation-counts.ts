/** The property of a record that contains the numbers of its related records. No field or relation has this name. */
export const COUNT_PROPERTY = '_count'
