/** Copies texts and the addresses of pages of the admin. */
import { useMessages } from './messages'
import { useRouter, useToast } from './nuxt'

/** Returns whether the browser has copied the text. Browsers copy only on HTTPS. */
export const copyText = async (text: string): Promise<boolean> =>
  await navigator.clipboard?.writeText(text).then(() => true, () => false) ?? false

/** @returns a function that copies the whole URL of a path. Where the browser does not copy, a toast shows the URL */
export function useCopyLink(): (to: Parameters<ReturnType<typeof useRouter>['resolve']>[0]) => Promise<void> {
  const t = useMessages()
  const toast = useToast()
  const router = useRouter()
  return async (to) => {
    const url = new URL(router.resolve(to).href, location.origin).href
    toast.add(await copyText(url)
      ? { title: t('copied.link'), color: 'success', icon: 'i-lucide-link' }
      : { title: t('copy.failed'), description: url, color: 'warning', icon: 'i-lucide-link', duration: 20_000 })
  }
}
