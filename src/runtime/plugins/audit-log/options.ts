/** The options of the audit log. */
import { isObject } from '../../shared/is-object'
import { assertOptions } from '../../server/plugin/options'
import { isName, isNames, type OptionRules } from '../../shared/option-rule'

export interface AuditLogOptions {
  /**
   * The name of the resource whose table contains the entries. `auditLogTable()` creates the table.
   * @default 'auditLog'
   */
  readonly resource?: string
  /**
   * The resources whose changes are recorded.
   * @default every registered resource
   */
  readonly resources?: readonly string[]
  /**
   * Resources whose changes are not recorded.
   * @default []
   */
  readonly except?: readonly string[]
  /**
   * Columns by resource whose changes are recorded without their values. Columns that no response contains are always recorded so.
   * @default {}
   * @example { users: ['recoveryCode'] }
   */
  readonly secrets?: Readonly<Record<string, readonly string[]>>
  /**
   * Days after which a daily task deletes an entry. Without it, entries are kept.
   */
  readonly retentionDays?: number
}

const RULES: OptionRules<AuditLogOptions> = {
  resource: { fits: isName, use: 'the name of a registered resource' },
  resources: { fits: isNames, use: 'a list of resource names' },
  except: { fits: isNames, use: 'a list of resource names' },
  secrets: { fits: value => isObject(value) && Object.values(value).every(isNames), use: 'an object of column names by resource' },
  retentionDays: { fits: value => Number.isInteger(value) && Number(value) > 0, use: 'a positive integer' },
}

/** @throws TypeError for an option that is unknown or invalid. */
export function assertAuditLogOptions(options: AuditLogOptions): void {
  assertOptions(options, RULES, 'auditLog')
}
