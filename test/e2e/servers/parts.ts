/**
 * Parts of a deployment that a test kills with SIGKILL and starts again: an app server, a replica of Postgres, Redis, a node of a cluster.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { root } from '../../support/once'
import type { Proxy } from '../../support/proxy'
import type { Orders } from './orders'

export interface Part {
  readonly name: string
  /** When requests can fail: when the part is killed, and when it starts again, because a node closes its connections as it joins. */
  readonly failing: 'never' | 'kill' | 'kill and start'
  readonly kill: () => Promise<void> | void
  readonly restart: () => Promise<void>
  /** Ends the part after the test. */
  readonly end: () => Promise<void> | void
}

const run = promisify(execFile)

/** Runs functions of `.ci/services.sh`. */
const shell = (commands: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run('bash', ['-c', `. .ci/services.sh; ${commands}`, 'services', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    timeout: 90_000,
  })

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const listens = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1').once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (listens) return
    await wait(50)
  }
  throw new Error(`Nothing listens on ${port}.`)
}

export async function startRedis(): Promise<Part & { readonly url: string }> {
  const port = await freePort()
  let redis: ChildProcess
  const restart = async () => {
    redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()], { stdio: 'ignore' })
    await untilListening(port)
  }
  const kill = () => void redis.kill('SIGKILL')
  await restart()
  return { name: 'Redis', failing: 'never', url: `redis://127.0.0.1:${port}`, restart, kill, end: kill }
}

/** A replica of the Postgres of the tests. */
export async function startReplica(): Promise<Part & { readonly port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'auto-api-replica-'))
  chmodSync(folder, 0o711)
  const port = await freePort()
  const pidFile = join(folder, 'data/postmaster.pid')
  await shell('copy_postgres "$1"', [folder])
  const restart = async () => {
    // The processes of a killed server need a moment to notice it, and no second server starts before.
    for (let attempt = 1; ; attempt++) {
      try {
        await shell('launch_replica "$1" "$2"', [String(port), folder])
        return
      }
      catch (error) {
        if (attempt === 10) throw error
        await wait(500)
      }
    }
  }
  const kill = () => {
    if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8').split('\n', 1)[0]), 'SIGKILL')
  }
  await restart()
  return { name: 'the replica', failing: 'never', port, restart, kill, async end() {
    // After SIGKILL, its other processes would go on for a moment, and write files.
    if (existsSync(pidFile)) await shell('stop_replica "$1"', [folder])
    rmSync(folder, { recursive: true, force: true })
  } }
}

const CLUSTER = { GALERA_FOLDER: join(tmpdir(), 'auto-api-galera-load'), GALERA_PORTS: '35' }

/** The port of a node of {@link startCluster}. */
export const nodePort = (node: number) => Number(`${CLUSTER.GALERA_PORTS}1${node}`)

/** A cluster for this test alone. @returns its nodes 2 and 3: the test itself reads from node 1. */
export async function startCluster(): Promise<readonly Part[]> {
  await shell('galera_start', [], CLUSTER)
  return [2, 3].map((node): Part => ({
    name: `node ${node}`,
    failing: 'kill and start',
    kill: async () => void (await shell('galera_kill "$1"', [String(node)], CLUSTER)),
    restart: async () => void (await shell('galera_restart "$1"', [String(node)], CLUSTER)),
    end: async () =>
      void (node === 2 && (await shell('for node in 1 2 3; do galera_kill "$node"; done; rm -rf "$GALERA_FOLDER"', [], CLUSTER))),
  }))
}

/** One of the app servers. The proxy learns of the new one, as of one that an orchestrator starts. */
export function appServer(index: number, { servers, start }: Orders, proxy: Proxy, env?: Readonly<Record<string, string>>): Part {
  return {
    name: `app server ${index + 1}`,
    failing: 'kill',
    kill: () => void process.kill(servers[index]!.pid, 'SIGKILL'),
    async restart() {
      proxy.remove(servers[index]!.url)
      servers[index] = await start(env)
      proxy.add(servers[index]!.url)
    },
    end: () => {},
  }
}
