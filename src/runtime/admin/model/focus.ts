/** Moves the keyboard focus into a dialog when it opens, and returns it to where it came from when the dialog closes. */

let remembered: HTMLElement | undefined

/** Remembers where the focus was before a menu or a row opened a dialog. Call it in the event handler. */
export function rememberFocus(element: Element | null | undefined = document.activeElement): void {
  remembered = element instanceof HTMLElement ? element : undefined
}

/** Returns the element that was remembered, or the one with the focus. Call it when the dialog is created. */
export function takeFocusOrigin(): HTMLElement | undefined {
  const origin = remembered ?? (document.activeElement instanceof HTMLElement ? document.activeElement : undefined)
  remembered = undefined
  return origin
}

/** Moves the focus to an element, or to the heading of the view if the element is gone, as after a delete. */
export function returnFocus(origin: HTMLElement | undefined): void {
  const isThere = origin !== undefined && origin !== document.body && origin.isConnected
  const target = isThere ? origin : document.querySelector<HTMLElement>('[data-admin-heading]')
  target?.focus({ preventScroll: isThere })
}

/** What a person can fill in. Nuxt UI adds inputs for the forms that a browser sends, which are hidden. */
const FIELDS = ['input', 'textarea', 'select', '[role=combobox]', '[role=switch]', '[role=checkbox]', '[role=radio]']
  .map(selector => `${selector}:not([aria-hidden=true], [tabindex="-1"], [type=hidden], :disabled)`).join()

/** Moves the focus to the first field of a dialog or form. Without a field, to the element that the selector finds. */
export function focusFirstField(element: Element, otherwise = FIELDS): void {
  const target = [FIELDS, otherwise].flatMap(selector => element.querySelector<HTMLElement>(selector) ?? [])[0]
  target?.focus({ preventScroll: true })
}
