/** The admin's view of webhooks: a receiver gets what the view says, and the view shows what it has answered. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch } from '../newsroom/browser'
import { EDITOR } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { openReceiver, type Receiver } from '../../plugins/webhooks/world'
import { expectAccessible, overflowOf, screenshot, toast, withPage } from './admin-page'

const folder = mkdtempSync(join(tmpdir(), 'webhooks-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser
let receiver: Receiver
/** The status with which the receiver answers. */
let status = 200

describe.runIf(there)('the view of webhooks', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'webhooks.sqlite'))
    browser = await launch()
    receiver = await openReceiver(response => void response.writeHead(status).end('noted'))
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    await receiver?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const dialog = (page: Page) => page.getByRole('dialog')
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  it('makes a webhook, shows its secret once, sends events and tests, and gives up and retries', async ({ expect }) => {
    await withPage(browser, `${newsroom.url}/admin/-/webhooks`, { as: EDITOR }, async ({ page }) => {
      await page.getByText('You have no webhooks').waitFor()
      await screenshot(page, 'webhooks-empty')
      await button(page, 'New webhook').click()
      await dialog(page).getByLabel('URL').fill(receiver.url)
      await dialog(page).getByLabel('Events').first().click()
      await page.getByPlaceholder('Search').fill('tags.created')
      await page.getByRole('option', { name: 'tags.created' }).click()
      await page.keyboard.press('Escape')
      await screenshot(page, 'webhooks-form')
      await button(page, 'Create').click()
      await dialog(page).getByText('Copy the secret now').waitFor()
      const secret = await dialog(page).getByLabel('Secret').inputValue()
      await expectAccessible(page)
      await dialog(page).getByRole('button', { name: 'Close' }).last().click()
      await expect.poll(() => dialog(page).count()).toBe(0)
      expect(await page.content()).not.toContain(secret)

      await newsroom.request('/api/tags', { method: 'POST', as: EDITOR, body: { name: 'Hooked', slug: 'hooked' } })
      await expect.poll(() => receiver.received.length).toBe(1)
      const [{ body, headers }] = receiver.received as [Receiver['received'][number]]
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ type: 'tags.created' })

      await button(page, 'Send a test').click()
      await toast(page, 'The receiver answered 200.')
      await page.getByText('webhook.test').waitFor()
      await page.getByText('Delivered', { exact: true }).first().waitFor()
      await button(page, 'Answer').first().click()
      await page.getByText('noted').waitFor()
      await screenshot(page, 'webhooks')
      await expectAccessible(page)
      await page.setViewportSize({ width: 390, height: 900 })
      expect(await overflowOf(page)).toBe(0)
      await page.setViewportSize({ width: 1440, height: 900 })

      status = 500
      await button(page, 'Send again').click()
      await toast(page, 'The delivery is sent again.')
      await expect.poll(() => receiver.received.length).toBe(3)
      status = 410
      await button(page, 'Send a test').click()
      await toast(page, /The test failed/)
      await page.getByText('Given up', { exact: true }).first().waitFor()
      await button(page, 'Switch off').click()
      await button(page, 'Switch on').waitFor()
      await button(page, 'Delete').click()
      await button(page, 'Delete webhook').click()
      await toast(page, 'The webhook is deleted.')
      await page.getByText('You have no webhooks').waitFor()
    })
  })
})
