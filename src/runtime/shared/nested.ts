/** The writes of children that the body of a parent can contain. */

/** In the order in which a commit runs them: a new child can have the unique value of a deleted one. */
export const NESTED_ACTIONS = ['delete', 'update', 'create'] as const

export type NestedAction = typeof NESTED_ACTIONS[number]

export const isNestedAction = (value: unknown): value is NestedAction => NESTED_ACTIONS.includes(value as NestedAction)
