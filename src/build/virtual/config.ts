/** Generates `#auto-api/config`: the resolved options as data, and `server`, which is true in a built server and false in the stand-in. */
import type { AutoApiConfig } from '../../runtime/shared/config'

export function generateConfig(config: AutoApiConfig): string {
  return `export const config = ${JSON.stringify(config, null, 2)}\nexport const server = true\n`
}
