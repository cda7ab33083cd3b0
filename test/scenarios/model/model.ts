/** A model of what writes must do, in plain JavaScript. It imports nothing of the module. */

export interface Post { id: number, tenant: number, title: string, group: string | null, tags: Set<number> }
export interface Comment { id: number, tenant: number, postId: number | null, parentId: number | null, body: string, group: string | null }
export interface Caller { readonly name: string, readonly tenant: number | null, readonly writes: boolean }

type Table = 'posts' | 'comments'

export class Model {
  readonly posts = new Map<number, Post>()
  readonly comments = new Map<number, Comment>()

  rows(table: Table): Map<number, Post | Comment> {
    return this[table]
  }

  /** 401 and 403 come before anything else. */
  refusal(caller: Caller): number | undefined {
    return caller.tenant === null ? 401 : caller.writes ? undefined : 403
  }

  find(table: Table, id: number, caller: Caller, state: 'active' | 'trashed' | 'any' = 'active'): Post | Comment | undefined {
    const row = this.rows(table).get(id)
    if (!row || row.tenant !== caller.tenant) return undefined
    return state === 'any' || (row.group === null) === (state === 'active') ? row : undefined
  }

  titleTaken(title: string, except?: number): boolean {
    return [...this.posts.values()].some(post => post.title === title && post.id !== except)
  }

  /** The descendants of a row, through the rows that `follows` accepts; each only once. */
  descendants(table: Table, id: number, follows: (row: Comment) => boolean): Comment[] {
    const found = new Set<Comment>()
    const visit = (children: (row: Comment) => boolean) => {
      for (const row of this.comments.values()) {
        if (!children(row) || !follows(row) || found.has(row)) continue
        found.add(row)
        visit(other => other.parentId === row.id)
      }
    }
    visit(table === 'posts' ? row => row.postId === id : row => row.parentId === id)
    return [...found]
  }

  trash(table: Table, id: number, group: string): void {
    const reached = this.descendants(table, id, row => row.group === null)
    this.rows(table).get(id)!.group = group
    for (const row of reached) row.group ??= group
  }

  restore(table: Table, id: number): void {
    const row = this.rows(table).get(id)!
    const { group } = row
    const reached = this.descendants(table, id, other => other.group === group)
    row.group = null
    for (const other of reached) other.group = null
  }

  purge(table: Table, id: number): void {
    for (const row of this.descendants(table, id, () => true)) this.comments.delete(row.id)
    this.rows(table).delete(id)
  }

  /** The rows of a cascade group, of every tenant. */
  group(group: string): [Table, number][] {
    return (['posts', 'comments'] as const).flatMap(table =>
      [...this.rows(table).values()].filter(row => row.group === group).map((row): [Table, number] => [table, row.id]),
    )
  }
}
