/** Starts and stops a contestant's server on this machine's loopback. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Contestant } from './contestants.ts'

export interface RunningServer {
  readonly contestant: Contestant
  /** Where its posts are, as an absolute address. */
  readonly posts: string
  /** Seconds of processor time it has used so far; `undefined` where the system does not tell. */
  readonly cpuSeconds: () => number | undefined
  readonly stop: () => Promise<void>
}

/** The seconds a server may take to its first line. */
const PATIENCE = 20

/**
 * @param nodeOptions for Node itself, such as `--cpu-prof`
 * @throws When the server does not say where it listens; the message holds what it printed instead.
 */
export async function startServer(contestant: Contestant, database: string, nodeOptions: readonly string[] = []): Promise<RunningServer> {
  const server = spawn(process.execPath, [...nodeOptions, contestant.entry], {
    env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', BENCH_DATABASE: database, ...contestant.environment?.(database) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Nobody's server outlives the bench.
  const kill = () => server.kill('SIGKILL')
  process.once('exit', kill)
  server.once('exit', () => process.off('exit', kill))
  const url = await findAddress(server, contestant)
  return {
    contestant,
    posts: url + contestant.posts,
    cpuSeconds: () => readCpuSeconds(server.pid!),
    stop: () => stop(server),
  }
}

function findAddress(server: ChildProcess, { key }: Contestant): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const fail = (reason: string) => {
      clearTimeout(timer)
      server.kill('SIGKILL')
      reject(new Error(`the server of ${key} ${reason}\n${printed}`))
    }
    const timer = setTimeout(() => fail(`did not say where it listens within ${PATIENCE} seconds`), PATIENCE * 1000)
    server.once('error', error => fail(error.message))
    const ended = (code: number | null) => fail(`ended with ${code}`)
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

/** Asked politely, so that a profile is written; forced when that takes too long. */
function stop(server: ChildProcess): Promise<void> {
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

/** User and system time of all threads, in hundredths of a second: Linux tells it in fields 14 and 15 of `stat`. */
function readCpuSeconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
