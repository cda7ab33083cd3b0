/** The door to Nuxt: the only file of the client that imports from it. */
export { defineNuxtPlugin, useNuxtApp, useRequestFetch, useState, type Plugin } from '#app'
export { prefix, resources } from '#build/auto-api/client'
