/** A server of the cells that the test kills: `node child.mjs <engine> <address> <log>`. It prints its port. */
import { CONNECT, type Shared } from './connect'
import { serveCells } from './serve'

const [name, url, log] = process.argv.slice(2) as [Shared, string, string]
const pause = () => Math.random() < 0.15 ? new Promise(resolve => setTimeout(resolve, Math.random() * 3)) : undefined
const { listen } = await serveCells(CONNECT[name](url), { log: log === 'true', pause })
const { port } = await listen({ user: { id: 1 } })
process.stdout.write(`${port}\n`)
