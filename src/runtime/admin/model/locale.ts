/** The language of the admin, and what the app config says about its texts. */
import { computed, type ComputedRef } from 'vue'
import type { Message } from './format'
import { useAppConfig } from './nuxt'

/** `autoAdmin` of the app config. */
export interface AdminTexts {
  /** The language of plural forms, numbers and relative times, such as `pl`. @default 'en' */
  readonly locale?: string
  /** Texts that replace those of the admin. */
  readonly messages?: Readonly<Record<string, Message | undefined>>
}

/** The pages follow changes of the app config. */
export function useTexts(): ComputedRef<AdminTexts> {
  const config = useAppConfig() as { readonly autoAdmin?: AdminTexts }
  return computed(() => config.autoAdmin ?? {})
}

export function useLocale(): ComputedRef<string> {
  const texts = useTexts()
  return computed(() => texts.value.locale ?? 'en')
}

/** Returns a function that writes numbers in the language of the admin. */
export function useNumbers(options?: Intl.NumberFormatOptions): (value: number) => string {
  const locale = useLocale()
  const numbers = computed(() => new Intl.NumberFormat(locale.value, options))
  return value => numbers.value.format(value)
}
