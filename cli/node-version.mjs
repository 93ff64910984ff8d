// The oldest Node that runs Polyplane. Plain JavaScript for any Node, because it tells those that are too old.

const oldest = 24

/**
 * Returns what to do about a version that is too old, and undefined for others.
 * @param {string} version such as "v24.21.0"
 * @returns {string | undefined}
 */
export function whyTooOld(version) {
  const major = Number(/^v(\d+)/.exec(version)?.[1])
  if (major >= oldest) return undefined
  return (
    `polyplane: Node ${oldest} or newer is needed, but this is ${version} (${process.execPath}).\n` +
    `On Linux x64, \`npm start\` and \`npx polyplane\` use the one in node_modules/.bin. Elsewhere, install Node ${oldest}.\n`
  )
}
