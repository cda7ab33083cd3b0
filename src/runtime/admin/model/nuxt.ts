/** Re-exports the functions of Nuxt and Nuxt UI that the admin uses. No other file of the views imports from them. */
export { navigateTo, onBeforeRouteLeave, useAppConfig, useCookie, useHead, useNuxtApp, useRoute, useRouter, useState } from '#app'
export { loadDateInput } from '#build/auto-admin/dates'
export { parts, queries, views } from '#build/auto-admin/extensions'
export { useToast } from '@nuxt/ui/composables/useToast'
export { RouterLink } from 'vue-router'
