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
  /** A button of a webhook. Its name ends with that of the webhook. */
  const action = (page: Page, text: string, webhook = receiver.url) => button(page, `${text} ${webhook}`)
  /** Opens the menu of a webhook, and chooses an action. */
  const choose = async (page: Page, text: string, webhook = receiver.url) => {
    await button(page, `Actions for ${webhook}`).click()
    await page.getByRole('menuitem', { name: text, exact: true }).click()
  }
  const state = (page: Page, text: string) => page.locator('.deliveries li').getByText(text, { exact: true })
  const createTag = (name: string) =>
    newsroom.request('/api/tags', { method: 'POST', as: EDITOR, body: { name, slug: name.toLowerCase() } })
  /** Creates, or confirms a new secret, and reads the secret that the dialog shows once. */
  async function readSecret(page: Page): Promise<string> {
    await dialog(page).getByText('Copy the secret now').waitFor()
    await screenshot(page, 'webhooks-secret')
    await expectAccessible(page)
    const secret = await dialog(page).getByLabel('Secret').inputValue()
    await dialog(page).getByRole('button', { name: 'Close' }).last().click()
    return secret
  }
  /** Whether the last request has a signature of this secret. */
  function isSigned(secret: string): boolean {
    const { body, headers } = receiver.received.at(-1)!
    try {
      return Boolean(new Webhook(secret).verify(body, headers as Record<string, string>))
    }
    catch {
      return false
    }
  }

  it('makes webhooks, shows each secret once, sends events and tests, and shows and retries what failed', async ({ expect }) => {
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
      const secret = await readSecret(page)
      await expect.poll(() => dialog(page).count()).toBe(0)
      expect(await page.content()).not.toContain(secret)

      await createTag('Hooked')
      await expect.poll(() => receiver.received.length).toBe(1)
      expect(receiver.received[0]!.payload).toMatchObject({ type: 'tags.created' })
      expect(isSigned(secret)).toBe(true)

      await action(page, 'Send a test').click()
      await toast(page, 'The receiver answered 200.')
      await page.getByText('webhook.test').waitFor()
      await state(page, 'Delivered').first().waitFor()
      expect(await page.locator('.deliveries li').allInnerTexts()).toEqual([expect.stringContaining(receiver.url), expect.stringContaining(receiver.url)])
      await page.getByRole('button', { name: /^Answer / }).first().click()
      await page.getByText('noted').waitFor()
      await screenshot(page, 'webhooks')
      await expectAccessible(page)
      await page.setViewportSize({ width: 390, height: 900 })
      expect(await overflowOf(page)).toBe(0)
      await page.setViewportSize({ width: 1440, height: 900 })

      // The receiver of a new secret accepts requests with it, and one that has the old one still does.
      await choose(page, 'New secret')
      await dialog(page).getByText('Create a new secret?').waitFor()
      await button(page, 'Create new secret').click()
      const next = await readSecret(page)
      expect(next).not.toBe(secret)
      await createTag('Rotated')
      await expect.poll(() => receiver.received.length).toBe(3)
      expect([isSigned(secret), isSigned(next)]).toEqual([true, true])
    })
  })

  it('says why a webhook is off, and what came of a delivery that is sent again', async ({ expect }) => {
    await withPage(browser, `${newsroom.url}/admin/-/webhooks`, { as: EDITOR }, async ({ page }) => {
      await state(page, 'Delivered').first().waitFor()
      status = 410
      await createTag('Refused')
      await expect.poll(() => receiver.received.length).toBe(4)
      const reason = async () => (await newsroom.request('/api/webhooks', { as: EDITOR })).body.data[0].pausedReason as string | null
      await expect.poll(reason).toBe('gone')
      await page.reload()
      await page.getByText('Switched off: the receiver answered that it is gone.').waitFor()
      await state(page, 'Given up').waitFor()
      await screenshot(page, 'webhooks-paused')
      await expectAccessible(page)
      const again = page.getByRole('listitem').filter({ hasText: 'Given up' }).getByRole('button', { name: /^Send again tags\.created / })
      await again.click()
      await page.getByText('The webhook of this delivery is switched off. Switch it on first.').waitFor()
      await action(page, 'Switch on').click()
      await action(page, 'Switch on').waitFor({ state: 'detached' })
      expect(await page.getByText(/^Switched off/).count()).toBe(0)

      status = 200
      await again.click()
      await toast(page, 'The delivery is sent again.')
      await expect.poll(() => receiver.received.length).toBe(5)
      // Without a reload of the page.
      await expect.poll(async () => await state(page, 'Given up').count() + await state(page, 'Waiting').count()).toBe(0)

      // A retry that fails for good switches the webhook off again, and the page says so.
      status = 410
      await page.getByRole('button', { name: /^Send again tags\.created / }).first().click()
      await page.getByText('Switched off: the receiver answered that it is gone.').waitFor()
      await state(page, 'Given up').waitFor()
      await action(page, 'Send a test').click()
      await toast(page, /The test failed/)
      await expect.poll(() => state(page, 'Given up').count()).toBe(2)
    })
  })

  it('has a name of its own for each button, also of webhooks with one URL', async ({ expect }) => {
    const body = { url: receiver.url, events: ['tags.deleted'] }
    expect((await newsroom.request('/api/webhooks', { method: 'POST', as: EDITOR, body })).status).toBe(201)
    await withPage(browser, `${newsroom.url}/admin/-/webhooks`, { as: EDITOR }, async ({ page }) => {
      await button(page, `Actions for ${receiver.url} (2)`).waitFor()
      const names = await page.locator('.webhook button').evaluateAll(buttons => buttons.map(one => one.getAttribute('aria-label')))
      // A test and a menu of both, and the switch of the one that is off.
      expect([names.length, new Set(names).size], names.join('\n')).toEqual([5, 5])
      const ofDeliveries = await page.locator('.deliveries li button').evaluateAll(buttons => buttons.map(one => one.getAttribute('aria-label')))
      expect(new Set(ofDeliveries).size).toBe(ofDeliveries.length)
      await screenshot(page, 'webhooks-two')
      await expectAccessible(page)
      for (const name of [`${receiver.url} (2)`, receiver.url]) {
        await choose(page, 'Delete', name)
        await button(page, 'Delete webhook').click()
        await toast(page, 'The webhook is deleted.')
        await expect.poll(() => dialog(page).count()).toBe(0)
        await button(page, `Actions for ${name}`).waitFor({ state: 'detached' })
      }
      await page.getByText('You have no webhooks').waitFor()
    })
  })
})
