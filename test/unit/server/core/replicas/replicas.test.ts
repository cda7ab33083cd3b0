/** When a replica is used, on a clock that the test moves: what it has, how old that is, and what a server knows of it. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createReplicas } from '../../../../../src/runtime/server/core/replicas/replicas'
import { pg } from '../../../../../src/runtime/server/engines/dialects/pg'
import type { Position } from '../../../../../src/runtime/server/engines/log-position'
import type { Engine, Row } from '../../../../../src/runtime/server/engines/engine'

const MAX_LAG = 10_000

const at = (position: number): Position => new Map([[0, BigInt(position)]])
const toText = (position: number) => `0/${position.toString(16).toUpperCase()}`

/** A server that is at a position. */
function createServer(at: number) {
  const server = { at, asked: 0, respond: undefined as undefined | (() => Promise<readonly Row[]>) }
  const query = async () => {
    server.asked++
    return server.respond ? server.respond() : [[toText(server.at)]]
  }
  return Object.assign(server, { engine: { adapter: pg, query } as unknown as Engine })
}

describe('a replica', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] })
    for (const name of ['warn', 'info'] as const) vi.spyOn(console, name).mockImplementation(() => {})
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  const open = (count = 1) => {
    const primary = createServer(0x100)
    const copies = Array.from({ length: count }, () => createServer(0x100))
    const replicas = createReplicas(primary.engine, copies.map(({ engine }) => engine), MAX_LAG)
    /** Which replica a read uses. Time passes until the read knows it. */
    const find = async (position?: Position) => {
      let found: string | undefined
      const finding = replicas
        .find(position)
        .then(async replica => (found = replica ? String((await replica.query({ text: '', values: [] }))[0]![0]) : 'primary'))
      finding.catch(() => found = 'failed')
      for (let count = 0; count < 200 && found === undefined; count++) await vi.advanceTimersByTimeAsync(25)
      return finding
    }
    return { primary, replica: copies[0]!, copies, find, replicas }
  }
  const messages = () =>
    [...vi.mocked(console.warn).mock.calls, ...vi.mocked(console.info).mock.calls].map(([text]) => String(text).slice(0, 45))

  it('is used from the first read on', async () => {
    const { find } = open()
    expect(await find()).toBe('0/100')
  })

  it('is used at the first read after hours without one, also if the primary has just written something', async () => {
    const { primary, replica, find } = open()
    for (let hour = 0; hour < 3; hour++) {
      await vi.advanceTimersByTimeAsync(3_600_000)
      primary.at += 0x100
      setTimeout(() => replica.at = primary.at, 60)
      expect(await find()).toBe(toText(primary.at))
    }
    expect(messages()).toEqual([])
  })

  it('is not used as soon as it lacks something that is older than `maxLag`, and again when it has it', async () => {
    const { primary, find, replica } = open()
    await find()
    primary.at = 0x200
    for (let time = 0; time < MAX_LAG - 3_000; time += 1_000) {
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await find()).toBe('0/100')
    }
    await vi.advanceTimersByTimeAsync(4_500)
    expect(await find()).toBe('primary')
    for (let time = 0; time < 4; time++) {
      await vi.advanceTimersByTimeAsync(1_000)
      await find()
    }
    expect(messages()).toEqual(['[auto-api] Replica 1 is more than 10000 ms be'])
    replica.at = 0x200
    await vi.advanceTimersByTimeAsync(1_000)
    await find()
    expect(await find()).toBe('0/200')
    expect(messages()).toEqual(['[auto-api] Replica 1 is more than 10000 ms be', '[auto-api] Replica 1 is used again.'])
  })

  it('is used while the primary does not respond, for `maxLag` at most', async () => {
    const { primary, find } = open()
    await find()
    primary.respond = () => Promise.reject(new Error('down'))
    await vi.advanceTimersByTimeAsync(MAX_LAG - 2_000)
    expect(await find()).toBe('0/100')
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await find()).toBe('primary')
  })

  it('has to have reached the position of a marker, and is asked once for many reads', async () => {
    const { primary, replica, find } = open()
    await find()
    primary.at = 0x200
    const asked = replica.asked
    expect(await Promise.all([find(at(0x200)), find(at(0x200)), find(at(0x200))])).toEqual(['primary', 'primary', 'primary'])
    expect(replica.asked).toBe(asked + 1)
    replica.at = 0x200
    await vi.advanceTimersByTimeAsync(30)
    expect(await find(at(0x200))).toBe('0/200')
  })

  it('takes turns with the others, which a marker can exclude', async () => {
    const { copies: [first, second], find } = open(2)
    await find()
    second!.at = 0x300
    await vi.advanceTimersByTimeAsync(1_000)
    await find()
    expect(new Set([await find(), await find(), await find()])).toEqual(new Set(['0/100', '0/300']))
    expect([await find(at(0x300)), await find(at(0x300))]).toEqual(['0/300', '0/300'])
    expect(first!.at).toBe(0x100)
  })

  it('is asked again if the request that asked has ended with all of its timers, as on workers', async () => {
    const { replica, replicas, find } = open()
    replica.respond = () => new Promise(() => {})
    void replicas.find()
    await vi.advanceTimersByTimeAsync(100)
    vi.clearAllTimers()
    replica.respond = undefined
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await find()).toBe('0/100')
  })

  it('does not hold up reads if it never responds, and is used again when it does', async () => {
    const { replica, find } = open()
    await find()
    replica.respond = () => new Promise(() => {})
    await vi.advanceTimersByTimeAsync(1_500)
    // The check that this read begins fails after a while.
    const reading = expect(find()).rejects.toThrow('No response within 2000 ms.')
    await vi.advanceTimersByTimeAsync(2_500)
    await reading
    expect(await find()).toBe('primary')
    replica.respond = undefined
    await vi.advanceTimersByTimeAsync(5_000)
    await find()
    expect(await find()).toBe('0/100')
    expect(messages()).toEqual(['[auto-api] Replica 1 does not respond. Error:', '[auto-api] Replica 1 is used again.'])
  })
})
