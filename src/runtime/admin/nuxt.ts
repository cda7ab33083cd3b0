/** Re-exports the parts of Nuxt and of the generated modules that the pages of the admin use. */
export {
  abortNavigation, createError, defineNuxtRouteMiddleware, useHead, useNuxtApp, useRequestFetch, useResponseHeader, useRoute, useState,
} from '#app'
export { adminMiddleware, adminPrefix, buildAssetsURL, middlewareFiles } from '#build/auto-admin/client'
export { components } from '#build/auto-admin/components'
