/** The types of computed fields: the names of the functions of `computed`. */
export const COMPUTED_TYPES = Object.freeze(['text', 'integer', 'number', 'bigint', 'decimal', 'boolean', 'timestamp', 'json'] as const)

export type ComputedType = typeof COMPUTED_TYPES[number]
