// Rewrites references of a proxied server to itself (links in HTML, Location) so that they work through the proxy: adds the path
// prefix of the proxy. Source: k8s.io/apimachinery/pkg/util/proxy/transport.go.

import { dictionary } from "../../apimachinery/dictionary.ts"

export interface Place {
  /** The path on the gateway that corresponds to the server's "/". */
  prefix: string
  /** Host names of the server in its links. */
  hosts: readonly (string | undefined)[]
}

/** URL attributes by element. */
const urlAttributes: Readonly<Record<string, readonly string[]>> = dictionary({
  a: ["href"],
  applet: ["codebase"],
  area: ["href"],
  audio: ["src"],
  base: ["href"],
  blockquote: ["cite"],
  body: ["background"],
  button: ["formaction"],
  command: ["icon"],
  del: ["cite"],
  embed: ["src"],
  form: ["action"],
  frame: ["longdesc", "src"],
  head: ["profile"],
  html: ["manifest"],
  iframe: ["longdesc", "src"],
  img: ["longdesc", "src", "usemap"],
  input: ["src", "usemap", "formaction"],
  ins: ["cite"],
  link: ["href"],
  object: ["classid", "codebase", "data", "usemap"],
  q: ["cite"],
  script: ["src"],
  source: ["src"],
  video: ["poster", "src"],
})

/** The content of these elements up to their end tag is not markup. */
const rawText = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed"]
const endTags: Readonly<Record<string, RegExp>> = dictionary(
  Object.fromEntries(rawText.map((name) => [name, new RegExp(`</${name}`, "gi")])),
)

export function rewriteURL(url: string, { prefix, hosts }: Place): string {
  const [place = "", scheme, host] = /^([a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?/i.exec(url) ?? []
  if (host === undefined ? scheme !== undefined : !hosts.includes(host)) return url
  const path = url.slice(place.length)
  if (!path.startsWith("/")) return url
  return path.startsWith(prefix) ? path : `${prefix}${path}`
}

const tagStart = /<(?:!--|([a-z][^\s/>]*))/gi
const attribute = /\s*(?:\/\s*)?([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/y

/** Tags and attributes processed before others may have their turn. */
const stretch = 500

/** Returns the text at the end; it yields to let others have their turn. */
export function* rewriteHTML(html: string, place: Place): Generator<void, string> {
  // Separate instances for each text, since they have state (lastIndex).
  const [tags, attributes] = [new RegExp(tagStart), new RegExp(attribute)]
  let result = ""
  let done = 0
  let steps = 0
  for (let found = tags.exec(html); found !== null; found = tags.exec(html)) {
    if (++steps % stretch === 0) yield
    const name = found[1]?.toLowerCase()
    if (name === undefined) {
      const end = html.indexOf("-->", tags.lastIndex)
      if (end < 0) break
      tags.lastIndex = end
      continue
    }
    const urls = urlAttributes[name]
    attributes.lastIndex = tags.lastIndex
    for (let given = attributes.exec(html); given !== null; given = attributes.exec(html)) {
      if (++steps % stretch === 0) yield
      const value = given[2] ?? given[3] ?? given[4]
      tags.lastIndex = attributes.lastIndex
      if (value === undefined || urls?.includes((given[1] ?? "").toLowerCase()) !== true) continue
      const quoted = given[4] === undefined
      const at = attributes.lastIndex - value.length - (quoted ? 1 : 0)
      result += html.slice(done, at) + rewriteURL(value, place)
      done = at + value.length
    }
    const endTag = endTags[name]
    if (endTag !== undefined) {
      endTag.lastIndex = tags.lastIndex
      const end = endTag.exec(html)
      if (end === null) break
      tags.lastIndex = end.index
    }
  }
  return result + html.slice(done)
}
