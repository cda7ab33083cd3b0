/** The entries of the activity feed, as the API returns them. */

/** An entry of the activity feed. */
export interface ActivityEntry {
  readonly id: string
  /** The time of the newest change, as ISO 8601. */
  readonly at: string
  /** `null` if the reader cannot see the actor. `label` is `null` if the reader cannot read the name. */
  readonly actor: { readonly id: string, readonly label: string | null } | null
  /** `created`, `updated`, `deleted`, `restored`, or a verb of the app. */
  readonly verb: string
  readonly resource: string
  readonly recordId: string
  /** The title of the record. `null` if the reader cannot read it. */
  readonly label: string | null
  /** The number of updates that the entry stands for. Other verbs have 1. */
  readonly count: number
}
