/** The input of dates, which needs a calendar that Nuxt UI 4.2 brings with it. */
import { addTemplate } from '@nuxt/kit'
import { genDynamicImport } from 'knitwork'
import type { Nuxt } from 'nuxt/schema'
import { isInstalled } from '../peer-dependencies'

/** What the input imports. A package manager can hide the package of the dates from the app, because it belongs to Nuxt UI. */
const NEEDED = ['@internationalized/date', '@nuxt/ui/components/InputDate.vue', '@nuxt/ui/components/Calendar.vue']

/** Generates `#build/auto-admin/dates`: the input, or nothing if it cannot be built. Forms then have the inputs of the browser. */
export function addDates(nuxt: Nuxt, path: string): void {
  // In development, Vite would give the input a copy of its own, and the calendar knows only dates of its own classes.
  const { vite } = nuxt.options
  vite.optimizeDeps = { ...vite.optimizeDeps, exclude: [...vite.optimizeDeps?.exclude ?? [], NEEDED[0]!] }
  addTemplate({
    filename: 'auto-admin/dates.ts',
    write: true,
    async getContents() {
      const found = await Promise.all(NEEDED.map(isInstalled(nuxt)))
      return [
        'import type { Component } from \'vue\'',
        'export const loadDateInput: (() => Promise<{ readonly default: Component }>) | undefined',
        `  = ${found.every(Boolean) ? `${genDynamicImport(path)} as never` : 'undefined'}`,
        '',
      ].join('\n')
    },
  })
}
