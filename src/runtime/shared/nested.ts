/** The writes of children and links that the body of a record can contain. */

/** Of a relation to children. In the order in which a commit runs them: a new child can have the unique value of a deleted one. */
export const CHILD_ACTIONS = ['delete', 'update', 'create'] as const

/** Of a many-to-many relation. In the order in which a commit runs them. */
export const LINK_ACTIONS = ['unlink', 'link'] as const

export type ChildAction = typeof CHILD_ACTIONS[number]
export type LinkAction = typeof LINK_ACTIONS[number]
export type NestedAction = ChildAction | LinkAction

export const NESTED_ACTIONS: readonly NestedAction[] = [...CHILD_ACTIONS, ...LINK_ACTIONS]

export const isNestedAction = (value: unknown): value is NestedAction => NESTED_ACTIONS.includes(value as NestedAction)
export const isChildAction = (value: unknown): value is ChildAction => CHILD_ACTIONS.includes(value as ChildAction)
export const isLinkAction = (value: unknown): value is LinkAction => LINK_ACTIONS.includes(value as LinkAction)
