/** Starts and stops the server of an implementation on the loopback interface. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Implementation } from './implementations.ts'

export interface RunningServer {
  readonly implementation: Implementation
  /** Absolute URL of its posts. */
  readonly posts: string
  readonly pid: number
  /** Processor time used so far, in seconds; `undefined` on other systems than Linux. */
  readonly cpuSeconds: () => number | undefined
  readonly stop: () => Promise<void>
}

/** Seconds until a server has to print its address. */
const START_TIMEOUT = 20

/**
 * @param nodeOptions options of Node, such as `--cpu-prof`
 * @throws When the server does not print its address. The message has the output of the server.
 */
export async function startServer(
  implementation: Implementation,
  database: string,
  nodeOptions: readonly string[] = [],
): Promise<RunningServer> {
  const server = spawn(process.execPath, [...nodeOptions, implementation.entry], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      BENCH_DATABASE: database,
      ...implementation.environment?.(database),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Servers end with the benchmark.
  const kill = () => server.kill('SIGKILL')
  process.once('exit', kill)
  server.once('exit', () => process.off('exit', kill))
  const url = await findAddress(server, implementation)
  return {
    implementation,
    posts: url + implementation.posts,
    pid: server.pid!,
    cpuSeconds: () => cpuSecondsOf(server.pid!),
    stop: () => stop(server),
  }
}

function findAddress(server: ChildProcess, { key }: Implementation): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const fail = (reason: string) => {
      clearTimeout(timer)
      server.kill('SIGKILL')
      reject(new Error(`The server of ${key} ${reason}.\n${printed}`))
    }
    const timer = setTimeout(() => fail(`did not print its address within ${START_TIMEOUT} seconds`), START_TIMEOUT * 1000)
    server.once('error', error => fail(error.message))
    const ended = (code: number | null) => fail(`exited with code ${code}`)
    server.once('exit', ended)
    const listen = (chunk: Buffer) => {
      printed += chunk
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)
      if (!address) return
      clearTimeout(timer)
      server.off('exit', ended)
      resolve(address[0])
    }
    server.stdout!.on('data', listen)
    server.stderr!.on('data', listen)
  })
}

/** Sends SIGTERM, so that Node writes its profile, and SIGKILL after 5 seconds. */
export function stop(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve()
    const force = setTimeout(() => server.kill('SIGKILL'), 5000)
    server.once('exit', () => {
      clearTimeout(force)
      resolve()
    })
    server.kill('SIGTERM')
  })
}

/** User and system time of all threads of a process and of its child processes, such as the workers of a cluster. */
export function cpuSecondsOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  // Fields 14 and 15 of `/proc/<pid>/stat`, in hundredths of a second.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(child => child !== '')
  return children.reduce((sum, child) => sum + cpuSecondsOf(Number(child))!, (Number(fields[11]) + Number(fields[12])) / 100)
}
