/** The styles of the admin, which only its own pages load. */
import { addTemplate } from '@nuxt/kit'
import type { Nuxt } from 'nuxt/schema'
import type { NuxtUi } from './nuxt-ui'

/** Generates `#build/auto-admin/admin.css`, and keeps it in a file that browsers can store. */
export function addStyles(nuxt: Nuxt, ui: NuxtUi, adminDirs: readonly string[]): void {
  addTemplate({ filename: 'auto-admin/admin.css', write: true, getContents: () => generateStyles(ui) })
  const { features } = nuxt.options
  const { inlineStyles } = features
  if (inlineStyles === false) return
  features.inlineStyles = id => !adminDirs.some(dir => id?.startsWith(`${dir}/`)) && (inlineStyles === true || inlineStyles(id))
}

/**
 * The pages of the admin have no Tailwind classes of their own. They need those of the Nuxt UI components that they use. If the app lists
 * Nuxt UI, its CSS contains these, unless `ui.experimental.componentDetection` limits them to the components that the app itself uses.
 * The generated styles then contain every class of the app again: styles that follow others must not override only some of them.
 */
function generateStyles({ isListed, detectsComponents }: NuxtUi): string {
  if (!isListed) return '@import "tailwindcss";\n@import "@nuxt/ui";\n@source "../ui";\n'
  if (!detectsComponents) return '/* The CSS of the app contains the styles of Nuxt UI. */\n'
  return [
    '@layer theme, base, components, utilities;',
    '@reference "tailwindcss";',
    '@reference "@nuxt/ui";',
    '@import "tailwindcss/utilities.css" layer(utilities) source(none);',
    '@source "../ui";',
    '',
  ].join('\n')
}
