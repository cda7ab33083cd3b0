/** Checks that unreachable services are reported without waiting for them. */
import { createServer, type AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { unreachable } from '../support/services'

it('names the services whose port has no listener, and only those', async () => {
  const listener = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => listener.once('listening', resolve))
  const { port } = listener.address() as AddressInfo
  const service = { name: 'database', host: '127.0.0.1', port }

  expect(await unreachable([service])).toEqual([])
  await new Promise(resolve => listener.close(resolve))
  expect(await unreachable([service])).toEqual([service])
})

it('names the programs that are not installed, and only those', async () => {
  const missing = { name: 'browser', path: '/nowhere/browser' }
  expect(await unreachable([{ name: 'node', path: process.execPath }, missing])).toEqual([missing])
})
