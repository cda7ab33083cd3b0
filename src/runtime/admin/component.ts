/** Loads the components of the app: its custom pages and the widgets of fields. The server tells the browser their URLs. */
import { defineAsyncComponent, type Component } from 'vue'
import type { AdminChunk } from '../shared/types/admin'
import { buildAssetsURL, components } from './nuxt'

/**
 * Creates a component of the app.
 * @param key the path of a page, or `<resource>.<field>`
 */
export function loadComponent(key: string, chunk: AdminChunk): Component {
  return defineAsyncComponent(async () => {
    if (import.meta.server) return (await components[key]!()).default
    const [{ default: component }] = await Promise.all([
      import(/* @vite-ignore */ buildAssetsURL(chunk.script)) as Promise<{ default: Component }>,
      ...chunk.styles.map(style => loadStyle(buildAssetsURL(style))),
    ])
    return component
  })
}

/** Resolves when the styles apply, or cannot be loaded. */
function loadStyle(href: string): Promise<void> {
  const links = [...document.querySelectorAll('link[rel="stylesheet"]')]
  if (links.some(link => link.getAttribute('href') === href)) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => resolve()
    document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href, onload: done, onerror: done }))
  })
}
