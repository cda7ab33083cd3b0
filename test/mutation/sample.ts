/** A random part of the changes, for folders where all of them take too long. `SAMPLE=0.2` tries one in five. The same ones each time. */

const share = Number(process.env.SAMPLE ?? 1)

export const isSampling = share < 1

/** @param id Stryker numbers the changes of a folder. */
export function isInSample(id: string): boolean {
  let mixed = (Number(id) + 1) * 0x9E3779B1 >>> 0
  mixed = Math.imul(mixed ^ mixed >>> 15, 0x85EBCA6B)
  mixed = Math.imul(mixed ^ mixed >>> 13, 0xC2B2AE35)
  return ((mixed ^ mixed >>> 16) >>> 0) / 2 ** 32 < share
}
