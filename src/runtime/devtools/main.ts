/** The page of the tab in Nuxt DevTools. The development server serves it, and Vite compiles it with the app. */
import { createApp } from 'vue'
import App from './app.vue'
import './style.css'

// Nuxt DevTools sets the theme of a page in its frame: the class `dark` for the dark one, and nothing for the light one.
if (window.parent !== window) document.documentElement.dataset.framed = ''

createApp(App).mount('#app')
