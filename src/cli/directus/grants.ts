/** What each policy of Directus grants on a collection: rows and fields for each action, and the rules that follow for the API. */
import { NotCarried, quote, toRows, type Columns, type Rows } from './rows'
import type { Action, Policy } from './snapshot'

export interface Grant {
  readonly policy: string
  readonly isPublic: boolean
  /** `all` rows, those of a condition, or `none` if its rule has no counterpart. */
  readonly rows: Rows | 'all' | 'none'
  readonly fields: ReadonlySet<string> | '*'
}

/**
 * Returns the grants of an action. A policy with several permissions for the action has a grant for each.
 * @param report is called with what has no counterpart
 */
export function grantsOf(
  policies: readonly Policy[], collection: string, action: Action, columns: Columns, report: (text: string) => void,
): Grant[] {
  return policies.filter(({ isAdmin }) => !isAdmin).flatMap(({ name, isPublic, permissions }) =>
    permissions.filter(permission => permission.collection === collection && permission.action === action)
      .map(({ permissions: rule, validation, presets, fields }): Grant => {
        const say = (text: string) => report(`${action}, policy \`${name}\`: ${text}`)
        if (validation && Object.keys(validation).length > 0) say('the validation of values. Add it to `validation` of the resource.')
        if (presets && Object.keys(presets).length > 0) say('the preset values. Set them in a before-hook, or as defaults of the columns.')
        // Directus has no rows to check before a create.
        const rows = action === 'create' || !rule ? 'all' : rowsOf(rule, columns, say)
        return { policy: name, isPublic, rows, fields: action === 'delete' || fields?.includes('*') ? '*' : new Set(fields) }
      }))
}

function rowsOf(rule: Readonly<Record<string, unknown>>, columns: Columns, say: (text: string) => void): Grant['rows'] {
  try {
    return toRows(rule, columns) ?? 'all'
  }
  catch (error) {
    if (!(error instanceof NotCarried)) throw error
    say(`${error.message}. The policy gives no rows. Add its condition to \`listFilter\`.`)
    return 'none'
  }
}

/** Whether Directus shows the field on some rows of a caller, and the API on none. */
export function isNarrower(grants: readonly Grant[], field: string): boolean {
  const { withField, without, everywhere } = split(grants, field)
  return without.length > 0 && everywhere.length < withField.length && !everywhere.some(({ isPublic }) => isPublic)
}

function split(grants: readonly Grant[], field: string) {
  const includes = ({ fields }: Grant) => fields === '*' || fields.has(field)
  const withField = grants.filter(includes)
  return { withField, without: grants.filter(grant => !includes(grant)), everywhere: withField.filter(({ rows }) => rows === 'all') }
}

/** The value of a permission: everybody, the policies that have the action, or nobody. */
export function toPermission(grants: readonly Grant[]): string {
  if (grants.length === 0) return 'false'
  return grants.some(({ isPublic }) => isPublic) ? 'true' : toNames(namesOf(grants))
}

const namesOf = (grants: readonly Grant[]) => [...new Set(grants.map(({ policy }) => policy))]

/** Only administrators, if there is no policy. */
function toNames(names: readonly string[]): string {
  if (names.length === 0) return 'ctx => has(ctx, \'*\')'
  return names.length === 1 ? quote(names[0]!) : `[${names.map(quote).join(', ')}]`
}

/**
 * The lines of a `listFilter` that return the rows of an action, or undefined if every caller with the action has all rows. The policies of
 * a caller add up, as in Directus. `'*'` is the permission of administrators.
 */
export function toFilter(grants: readonly Grant[]): { readonly lines: readonly string[], readonly imports: readonly string[] } | undefined {
  if (grants.every(({ rows }) => rows === 'all')) return undefined
  const unlimited = grants.filter(({ rows }) => rows === 'all')
  if (unlimited.some(({ isPublic }) => isPublic)) return undefined
  const conditions = grants.flatMap(({ policy, isPublic, rows }) => {
    if (rows === 'all' || rows === 'none') return []
    return [{ ...rows, code: isPublic ? rows.code : `has(ctx, ${quote(policy)}) ? ${rows.code} : undefined` }]
  })
  const open = ['*', ...namesOf(unlimited)].map(quote).join(', ')
  const rest = conditions.length === 0
    ? ['return nobody']
    : ['return or(', ...conditions.map(({ code }) => `  ${code},`), ') ?? nobody']
  return {
    lines: [`if (has(ctx, ${open})) return undefined`, ...rest],
    imports: ['sql', ...conditions.flatMap(({ imports }) => ['or', ...imports])],
  }
}

/**
 * The rule of a field for an action, or undefined if every grant contains it. A caller whose other policies have rows without the field
 * gets it only from a policy with all rows: the API has one answer for a field, and Directus one for each row.
 */
export function toFieldRule(grants: readonly Grant[], field: string): string | undefined {
  const { withField, without, everywhere } = split(grants, field)
  if (without.length === 0 || everywhere.some(({ isPublic }) => isPublic)) return undefined
  if (without.some(({ isPublic }) => isPublic) || everywhere.length === withField.length) return toNames(namesOf(everywhere))
  const names = (list: readonly Grant[]) => namesOf(list).map(quote).join(', ')
  const exact = withField.some(({ isPublic }) => isPublic) ? '' : `has(ctx, ${names(withField)}) && `
  const whole = everywhere.length > 0 ? `has(ctx, ${names(everywhere)}) || ` : ''
  return `ctx => ${whole}(${exact}!has(ctx, ${names(without)}))`
}
