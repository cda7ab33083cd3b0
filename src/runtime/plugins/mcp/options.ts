/** The options of `mcp`. */
import { assertNames, assertOptions } from '../../server/plugin/options'
import { isName, isNames, type OptionRules } from '../../shared/option-rule'

export interface McpOptions {
  /**
   * Whether the tools can write: `create`, `update`, `delete` and `restore`. Each call also needs the permission of the caller.
   * @default false
   */
  readonly write?: boolean
  /**
   * The resources that the tools can use.
   * @default every registered one
   */
  readonly resources?: readonly string[]
  /**
   * Resources that the tools cannot use: no relation leads to them, and they are no children of others.
   * @default []
   */
  readonly except?: readonly string[]
  /**
   * The path of the MCP endpoint below the prefix.
   * @default '/mcp'
   */
  readonly path?: string
  /**
   * The maximum number of records or groups in a result. The API's own `pagination.maxLimit` applies too.
   * @default 50
   */
  readonly maxRows?: number
  /**
   * The maximum size of a result in bytes.
   * @default 65536
   */
  readonly maxBytes?: number
  /**
   * Text about the app, which a client passes to the language model.
   * @default none
   */
  readonly instructions?: string
}

export type ResolvedMcp = Required<Pick<McpOptions, 'write' | 'path' | 'maxRows' | 'maxBytes'>> & McpOptions

const MIN_BYTES = 1024
const MAX_BYTES = 16 * 1024 * 1024
const MAX_ROWS = 1000
const MAX_INSTRUCTIONS = 10_000

const isBetween = (least: number, most: number) => (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

const RULES: OptionRules<McpOptions> = {
  write: { fits: value => typeof value === 'boolean', use: 'true or false' },
  resources: { fits: isNames, use: 'a list of resources' },
  except: { fits: isNames, use: 'a list of resources' },
  path: { fits: value => isName(value) && /^(?:\/[\w~-][\w.~-]*)+$/.test(value), use: 'a path such as `/mcp`' },
  maxRows: { fits: isBetween(1, MAX_ROWS), use: `a number from 1 to ${MAX_ROWS}` },
  maxBytes: { fits: isBetween(MIN_BYTES, MAX_BYTES), use: `a number from ${MIN_BYTES} to ${MAX_BYTES}` },
  instructions: {
    fits: value => isName(value) && value.length <= MAX_INSTRUCTIONS,
    use: `a text of at most ${MAX_INSTRUCTIONS} characters`,
  },
}

/** @throws TypeError for an unknown option or an invalid value. */
export function resolveMcpOptions(options: McpOptions): ResolvedMcp {
  assertOptions(options, RULES, 'mcp')
  const { write = false, path = '/mcp', maxRows = 50, maxBytes = 64 * 1024 } = options
  return { ...options, write, path, maxRows, maxBytes }
}

/** @throws TypeError when an option names a resource that is not registered. */
export function assertResources({ resources = [], except = [] }: McpOptions, registered: readonly string[]): void {
  assertNames(resources, registered, 'mcp.resources')
  assertNames(except, registered, 'mcp.except')
}
