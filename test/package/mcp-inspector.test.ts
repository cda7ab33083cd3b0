/** The official inspector of MCP, on the tools of a built server. It has many dependencies, so only this test installs it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeOnce, root } from '../support/once'
import { startNotebook, type Notebook } from '../e2e/auth-utils/server'
import { environment } from './tarball'

const INSPECTOR = '@modelcontextprotocol/inspector'
const VERSION = '2.12.0'
const folder = join(root, 'test/package/.output/inspector')

interface Ended {
  readonly status: number
  readonly printed: string
  readonly warned: string
}

async function run(command: string, ...args: string[]): Promise<Ended> {
  const running = spawn(command, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { printed: '', warned: '' }
  running.stdout.on('data', chunk => output.printed += chunk)
  running.stderr.on('data', chunk => output.warned += chunk)
  const [status] = await once(running, 'close') as [number]
  return { status, ...output }
}

describe('the official inspector', () => {
  let notebook: Notebook
  let token: string

  beforeAll(async () => {
    await makeOnce(folder, VERSION, async () => {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: { [INSPECTOR]: VERSION } }))
      const { status, warned } = await run('npm', 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund')
      if (status !== 0) throw new Error(warned)
    })
    notebook = await startNotebook()
    const { body } = await notebook.request('/api/apiTokens', {
      method: 'POST',
      cookie: await notebook.signIn('ada'),
      body: { name: 'agent' },
    })
    token = body.token
  })
  afterAll(() => notebook?.stop())

  const inspect = async (...args: string[]) => {
    const ended = await run(
      join(folder, 'node_modules/.bin/mcp-inspector'),
      '--cli',
      `${notebook.url}/api/mcp`,
      '--transport',
      'http',
      '--header',
      `Authorization: Bearer ${token}`,
      ...args,
    )
    if (ended.status !== 0) throw new Error(ended.warned)
    return JSON.parse(ended.printed) as {
      readonly tools: readonly { readonly name: string }[]
      readonly content: readonly [{ readonly text: string }]
    }
  }

  it('lists the tools and calls one', async () => {
    const { tools } = await inspect('--method', 'tools/list')
    expect(tools.map(({ name }) => name)).toEqual(['describe', 'list', 'get', 'aggregate', 'create', 'update', 'delete'])
    const {
      content: [{ text }],
    } = await inspect('--method', 'tools/call', '--tool-name', 'get', '--tool-arg', 'resource=notes', '--tool-arg', 'id=1')
    expect(JSON.parse(text)).toMatchObject({ record: { id: 1, text: 'first of one' } })
  })
})
