/** Listens to the keys of the admin. */
import { onBeforeUnmount, onMounted } from 'vue'
import { isCharacter, shortcutOf, type Shortcut } from './shortcuts'

/** Returns `false` if the key had nothing to do, so that the browser gets it. */
type Handler = (event: KeyboardEvent) => unknown

const TYPING = 'input, textarea, select, [contenteditable=""], [contenteditable=true], [role=combobox], [role=textbox]'
const LAYERS = '[role=dialog], [role=alertdialog], [role=menu], [role=listbox]'

/** Calls a handler for each key, but not while a person types or something lies over the page. */
export function useShortcuts(handlers: Readonly<Partial<Record<Shortcut, Handler>>>): void {
  const onKey = (event: KeyboardEvent) => {
    const shortcut = shortcutOf(event)
    const handler = shortcut && handlers[shortcut]
    if (!handler || (isCharacter(event.key) && !areKeysOn())) return
    if ((event.target instanceof Element && event.target.closest(TYPING)) || document.querySelector(LAYERS)) return
    if (handler(event) !== false) event.preventDefault()
  }
  onMounted(() => addEventListener('keydown', onKey))
  onBeforeUnmount(() => removeEventListener('keydown', onKey))
}

const STORED = 'auto-admin:keys'

/** Whether single characters do something. A person can turn them off, because voice input presses them by accident. */
export function areKeysOn(): boolean {
  try {
    return localStorage.getItem(STORED) !== 'off'
  }
  catch {
    return true
  }
}

export function turnKeys(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, 'off')
  }
  catch {
    // A browser without storage keeps them on.
  }
}
