/** The users of the example: an app reads them from its table. */
export interface User {
  readonly id: string
  readonly permissions: string[]
  banned: boolean
}

export const users = new Map<string, User>([['ann', { id: 'ann', permissions: ['editor'], banned: false }]])

export const loadUser = async (id: string): Promise<User | undefined> => users.get(id)
