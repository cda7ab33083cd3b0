/** What the tabs have in common: the one that is shown, the caller, and the request of the console. */
import { reactive, ref, watch } from 'vue'
import { tabOf } from './paths'

export const tab = ref(tabOf(location.hash))

window.addEventListener('hashchange', () => {
  tab.value = tabOf(location.hash)
})

const STORED = 'auto-api:as'

/** The caller as the server reads it. Empty for the caller of this browser. */
export const as = ref(sessionStorage.getItem(STORED) ?? '')

watch(as, value => sessionStorage.setItem(STORED, value))

/** The request of the console. */
export const draft = reactive({
  method: 'GET',
  path: '',
  body: '',
  /** Whether another tab asks for its explanation. */
  isRequested: false,
})

/** Opens the console with a request. */
export function explainInConsole(method: string, path: string): void {
  Object.assign(draft, { method, path, body: '', isRequested: true })
  location.hash = '#console'
}
