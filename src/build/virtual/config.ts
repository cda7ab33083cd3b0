/** Generates `#auto-api/config`: the resolved options, as data. */
import type { AutoApiConfig } from '../../runtime/shared/config'

export function generateConfig(config: AutoApiConfig): string {
  return `export const config = ${JSON.stringify(config, null, 2)}\nexport const server = true\n`
}
