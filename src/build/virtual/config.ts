/**
 * Generates `#auto-api/config`: the resolved options as data, the part of the base URL that the path of an event contains, the pages below
 * the prefix, and `server`, which is true in a built server and false in the stand-in.
 */
import type { AutoApiConfig } from '../../runtime/shared/config'

export function generateConfig(config: AutoApiConfig, eventBase = '', pagesBelow: readonly string[] = []): string {
  return [
    `export const config = ${JSON.stringify(config, null, 2)}`,
    `export const eventBase = ${JSON.stringify(eventBase)}`,
    `export const pagesBelow = ${JSON.stringify(pagesBelow)}`,
    'export const server = true\n',
  ].join('\n')
}
