/** Servers that are pinned to one core, and what the whole tree of their processes uses. Linux only. */
import { spawn, spawnSync } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { stop } from '../server.ts'
import type { Command } from './system.ts'

/** The core of the server. The benchmark and its load generator have the other one. */
const SERVER_CORE = 0
const CLIENT_CORE = 1
const START_TIMEOUT = 120_000

export interface Usage {
  /** Processor time of all processes, in seconds. */
  readonly cpu: number
  /** The memory of all processes now, and the sum of the largest of each, in MiB. */
  readonly memory: number
  readonly peak: number
}

export interface Started {
  readonly url: string
  /** Until the first successful response. */
  readonly seconds: number
  readonly usage: () => Usage
  readonly stop: () => Promise<void>
}

/** Pins this process. The load generator, which it starts afterwards, inherits the core. */
export function pinClient(): void {
  if (process.platform !== 'linux') throw new Error('--systems needs Linux: it reads /proc.')
  const { status } = spawnSync('taskset', ['-a', '-p', '-c', String(CLIENT_CORE), String(process.pid)])
  if (status !== 0) throw new Error('--systems needs the command taskset and two cores.')
}

/** Starts a server and waits until the path returns a success. Its output is in the file `log`. */
export async function start(toCommand: (port: number) => Command, path: string, log: string): Promise<Started> {
  const port = await freePort()
  const { file, args, cwd, environment } = toCommand(port)
  const output = openSync(log, 'a')
  const begin = performance.now()
  const server = spawn('taskset', ['-c', String(SERVER_CORE), file, ...args], {
    cwd,
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', output, output],
  })
  const kill = () => void server.kill('SIGKILL')
  process.once('exit', kill)
  const url = `http://127.0.0.1:${port}`
  while (!(await answers(url + path))) {
    if (server.exitCode !== null || performance.now() - begin > START_TIMEOUT) {
      kill()
      throw new Error(`The server does not start: see ${log}\n${readFileSync(log, 'utf8').slice(-2000)}`)
    }
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  return {
    url,
    seconds: (performance.now() - begin) / 1000,
    usage: () => readUsage(server.pid!),
    async stop() {
      await stop(server)
      process.off('exit', kill)
    },
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.ok
  }
  catch {
    return false
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** A process and all that it started, also those that have ended. */
function readUsage(pid: number): Usage {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  // User and system time, of itself and of its ended children, in hundredths of a second.
  const own = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / 100
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [memory, peak] = ['VmRSS', 'VmHWM'].map(name => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024) as [number, number]
  return childrenOf(pid).map(readUsage).reduce(
    (sum, usage) => ({ cpu: sum.cpu + usage.cpu, memory: sum.memory + usage.memory, peak: sum.peak + usage.peak }),
    { cpu: own, memory, peak },
  )
}

const childrenOf = (pid: number) => readdirSync(`/proc/${pid}/task`).flatMap(task =>
  readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(child => child !== '').map(Number))

/** Runs a command to its end. @throws With the end of its output. */
export function run(file: string, args: readonly string[], options: { cwd: string, env?: Readonly<Record<string, string>> }): void {
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    cwd: options.cwd,
    env: { ...process.env, NODE_ENV: 'production', ...options.env },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} fails.\n${error?.message ?? ''}${`${stdout}${stderr}`.slice(-3000)}`)
}
