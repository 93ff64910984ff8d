// Keeps Node's HTTP client `undici`, which this program does not use, out of the process: 13 MiB and a fourteenth of the time until
// `polyplane up` is ready. An import of node:http reads all its exports, also those that load undici when they are read. Therefore
// they are hidden from the first import, and the namespace lacks them from then on; for `require` they are as they were.

const http = process.getBuiltinModule("node:http")
const lazyExports = ["CloseEvent", "MessageEvent", "WebSocket"]
const descriptors = lazyExports.map((name) => Object.getOwnPropertyDescriptor(http, name))

for (const name of lazyExports) Object.defineProperty(http, name, { value: undefined, configurable: true })
await import("node:http")
for (const [index, name] of lazyExports.entries()) {
  const descriptor = descriptors[index]
  if (descriptor === undefined) delete http[/** @type {keyof typeof http} */ (name)]
  else Object.defineProperty(http, name, descriptor)
}
