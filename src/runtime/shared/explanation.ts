/** The explanation of a request: which rule decided about it, and which rules hide rows. It exists in development and in tests only. */

/** The kinds of rules. */
export const DECISION_KINDS = [
  // Before the caller is known: the credential, the origin, a rate limit.
  'caller',
  'disabled', 'authorization', 'permission', 'gate', 'credential', 'sign in', 'tenant',
  'missing', 'trash', 'listFilter', 'plugin rows', 'objectLevel',
  'field',
  // What the request itself says: an invalid value, a conflict, a limit.
  'request',
  'none',
] as const

export type DecisionKind = typeof DECISION_KINDS[number]

/** What one rule decided. */
export interface Decision {
  readonly kind: DecisionKind
  /** Whether the rule lets the caller, or the row, pass. */
  readonly passed: boolean
  /** The decision as a sentence. */
  readonly text: string
  readonly resource?: string
  readonly operation?: string
  /** The row that the rule judged. */
  readonly id?: string
  /** The rule: `posts.authorization.permissions.update`. */
  readonly rule?: string
  /** Where the rule stands: `server/resources/posts.ts:14`. Absent if the build did not read its file. */
  readonly place?: string
  /** What the rule requires: `'editor'`, or the text of a function. */
  readonly requires?: string
}

/** How many rows of a table each rule leaves, one after another. */
export interface ExplainedRows {
  readonly resource: string
  readonly operation: string
  /** All rows of the table. */
  readonly total: number
  /** The rules in their order, each with the rows that it hides of those that the rules before it left. */
  readonly rules: readonly (Pick<Decision, 'kind' | 'rule' | 'place'> & { readonly hidden: number })[]
  /** The rows that are left, before the filter and the page of the request. */
  readonly visible: number
  /** Whether rules in code judged only the first rows. */
  readonly truncated?: boolean
}

export interface ExplainedCaller {
  readonly signedIn: boolean
  readonly id?: unknown
  readonly roles: readonly string[]
  readonly permissions: readonly string[]
  readonly tenant?: unknown
  /** What a credential allows, such as an API token with scopes. */
  readonly scopes?: readonly string[]
}

export interface ExplainedStatement {
  /** SQL with placeholders: it contains no value. */
  readonly text: string
  readonly rows?: number
  /** In milliseconds. */
  readonly duration: number
}

export interface Explanation {
  readonly method: string
  readonly path: string
  readonly resource?: string
  readonly operation?: string
  readonly status: number
  readonly code?: string
  /** Absent if the request ended before the caller was known. */
  readonly caller?: ExplainedCaller
  /** The rule that decided. For a request that succeeds: the first rule that hides rows, otherwise `none`. */
  readonly decision: Decision
  /** Every rule that was asked, in its order. */
  readonly checks: readonly Decision[]
  readonly rows: readonly ExplainedRows[]
  readonly statements: readonly ExplainedStatement[]
  /** In milliseconds. */
  readonly duration: number
}

/** Renders an explanation for a terminal. */
export function toText(explanation: Explanation): string {
  const { method, path, status, code, caller, decision, checks, rows, statements, duration } = explanation
  return [
    `${method} ${path} → ${status}${code ? ` ${code}` : ''}`,
    `as ${callerText(caller)}`,
    '',
    decision.text,
    ...decision.place ? [`  at ${decision.place}`] : [],
    ...section('Rules', checks.map(check => `${check.passed ? '✓' : '✗'} ${check.text}${check.place ? `  (${check.place})` : ''}`)),
    ...section('Rows', rows.map(rowsText)),
    ...section(`Statements (${duration.toFixed(1)} ms)`, statements.map(({ text, rows, duration }) =>
      `${duration.toFixed(1)} ms${rows === undefined ? '' : `, ${count(rows, 'row')}`}: ${text}`)),
  ].join('\n')
}

const section = (title: string, lines: readonly string[]) => lines.length === 0 ? [] : ['', title, ...lines.map(line => `  ${line}`)]

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`

export function callerText(caller: ExplainedCaller | undefined): string {
  if (!caller) return 'an unknown caller: the request ended before'
  const { signedIn, id, roles, permissions, tenant, scopes } = caller
  return [
    signedIn ? `user ${String(id ?? 'without an id')}` : 'an anonymous caller',
    roles.length > 0 ? `roles ${roles.join(', ')}` : 'no roles',
    permissions.length > 0 ? `permissions ${permissions.join(', ')}` : 'no permissions',
    ...tenant === undefined ? [] : [`tenant ${String(tenant)}`],
    ...scopes ? [`scopes ${scopes.join(', ')}`] : [],
  ].join(', ')
}

function rowsText({ resource, total, rules, visible, truncated }: ExplainedRows): string {
  const hidden = rules.filter(({ hidden }) => hidden > 0).map(({ kind, hidden }) => `${kind} hides ${hidden}`)
  return `${resource}: ${count(total, 'row')}${hidden.length > 0 ? `, ${hidden.join(', ')}` : ''} → ${visible} visible`
    + (truncated ? ' (of the first rows only)' : '')
}
