/** Routes of earlier versions are gone for every caller. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANN, CHIEF, NOBODY, openDesk, type Desk } from '../../support/desk'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.client.close())

describe.each([['nobody', NOBODY], ['a member', ANN], ['a super admin', CHIEF]])('for %s', (_who, caller) => {
  it.each([
    ['GET', '/api/_m2m/debug-detection'],
    ['POST', '/api/_m2m/debug-detection'],
    ['POST', '/api/admin/m2m/sync'],
    ['GET', '/api/admin/m2m/sync'],
    ['OPTIONS', '/api/admin/m2m/sync'],
  ])('%s %s is a 404 that changes nothing', async (method, path) => {
    const before = desk.dump()
    expect((await desk.request(method, path, { ...method === 'POST' && { body: {} }, caller })).status).toBe(404)
    expect(desk.dump()).toBe(before)
  })
})
