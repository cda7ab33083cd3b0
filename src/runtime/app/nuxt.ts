/** Re-exports the Nuxt functions that the client uses. No other file of the client imports from Nuxt. */
export { defineNuxtPlugin, onNuxtReady, useNuxtApp, useRequestFetch, useRuntimeConfig, useState, type Plugin } from '#app'
export { hasNested, prefix, resources } from '#build/auto-api/client'
