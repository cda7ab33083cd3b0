/** What a server does when Nitro calls its hook `close`. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

type Hook = () => unknown

function createNitro(own: object = {}) {
  const hooks: Hook[] = []
  return {
    nitro: { ...own, hooks: { hook: (_name: 'close', listen: Hook) => hooks.push(listen) } },
    async close() {
      for (const hook of hooks) await hook()
    },
  }
}

describe('a server that stops', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  beforeEach(() => void vi.resetModules())
  afterEach(() => {
    exit.mockClear()
    vi.unstubAllEnvs()
    vi.useRealTimers()
  })

  const load = async () => ({
    ...(await import('../../../../src/runtime/server/nitro/stop')),
    ...(await import('../../../../src/runtime/server/core/process/in-flight')),
  })

  it('waits for work, and for the work that it begins, also if it fails', async () => {
    const { waitForWork, keepRunning, isStopping } = await load()
    const { nitro, close } = createNitro()
    waitForWork(nitro)
    const ended: string[] = []
    const work = (name: string, milliseconds: number, then?: () => unknown) => keepRunning(new Promise<void>(resolve => setTimeout(() => {
      ended.push(name)
      then?.()
      resolve()
    }, milliseconds)))
    void work('first', 20, () => work('begun by the first', 20))
    keepRunning(Promise.reject(new Error('fails'))).catch(() => {})
    expect(isStopping()).toBe(false)
    await close()
    expect(ended).toEqual(['first', 'begun by the first'])
    expect(isStopping()).toBe(true)
  })

  it('waits for a request that has begun and has no promise', async () => {
    const { waitForWork, workBegins, workEnds } = await load()
    const { nitro, close } = createNitro()
    waitForWork(nitro)
    const ended: string[] = []
    workBegins()
    workBegins()
    setTimeout(() => {
      ended.push('one')
      workEnds()
    }, 10)
    setTimeout(() => {
      ended.push('both')
      workEnds()
    }, 30)
    await close()
    expect(ended).toEqual(['one', 'both'])
  })

  it('warns and goes on after `NITRO_SHUTDOWN_TIMEOUT`', async () => {
    vi.stubEnv('NITRO_SHUTDOWN_TIMEOUT', '150')
    const { waitForWork, keepRunning } = await load()
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { nitro, close } = createNitro()
    waitForWork(nitro)
    void keepRunning(new Promise(() => {}))
    await close()
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('before all requests and tasks have ended'))
    warn.mockRestore()
  })

  it('lets plugins begin to end before it waits for work, and end after it', async () => {
    const { waitForWork, keepRunning } = await load()
    const { nitro, close } = createNitro()
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const steps: string[] = []
    const fail = () => {
      throw new Error('fails')
    }
    waitForWork(nitro, () => [{ begin: fail, end: fail }, { begin: () => steps.push('begin'), end: async () => void steps.push('end') }, {}])
    void keepRunning(new Promise<void>(resolve => setTimeout(() => {
      steps.push('work')
      resolve()
    }, 20)))
    await close()
    expect(steps).toEqual(['begin', 'work', 'end'])
    expect(error).toHaveBeenCalledTimes(2)
    error.mockRestore()
  })

  it.each([
    ['ends as without a listener if nobody else listens', [], 1],
    ['is left to another one who listens', ['on'], 0],
    ['is left to another one who listens once', ['once'], 0],
  ] as const)('at a signal %s', async (_what, others, kills) => {
    const { beginAtSignal } = await load()
    vi.stubEnv('NITRO_SHUTDOWN_SIGNALS', 'SIGUSR2')
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => true)
    const [begin, other] = [vi.fn(), vi.fn()]
    for (const listen of others) process[listen]('SIGUSR2', other)
    beginAtSignal([{ begin }])
    process.emit('SIGUSR2')
    expect([begin.mock.calls.length, other.mock.calls.length]).toEqual([1, others.length])
    expect(kill.mock.calls).toEqual(Array.from({ length: kills }, () => [process.pid, 'SIGUSR2']))
    process.removeAllListeners('SIGUSR2')
    kill.mockRestore()
  })

  it('listens to no signal for plugins that do nothing at one', async () => {
    const { beginAtSignal } = await load()
    const before = process.listenerCount('SIGTERM')
    beginAtSignal([{ end: () => {} }])
    expect(process.listenerCount('SIGTERM')).toBe(before)
  })

  it.each([
    ['ends the process', {}, {}, 1],
    ['leaves that to Nitro 2', { h3App: {} }, {}, 0],
    ['does not end the process if `NITRO_SHUTDOWN_FORCE` is `false`', {}, { NITRO_SHUTDOWN_FORCE: 'false' }, 0],
  ])('%s after the last hook', async (_what, own, env, exits) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    vi.useFakeTimers()
    const { endProcess } = await load()
    const { nitro, close } = createNitro(own)
    endProcess(nitro)
    await close()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(exit).toHaveBeenCalledTimes(exits)
  })

  it('starts no tasks', async () => {
    const runDue = vi.fn(async () => ['work:run'])
    vi.doMock('../../../../src/runtime/server/runtime', () => ({ useApi: () => ({ whenReady: () => undefined, scheduler: { runDue } }) }))
    const { stopRunning } = await load()
    const { default: task } = await import('../../../../src/runtime/server/tasks/plugins')
    expect(await task.run()).toEqual({ result: ['work:run'] })
    await stopRunning()
    expect(await task.run()).toEqual({ result: [] })
    expect(runDue).toHaveBeenCalledTimes(1)
    vi.doUnmock('../../../../src/runtime/server/runtime')
  })
})
