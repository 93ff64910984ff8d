// Parses image references as far as defaults need it. Source: k8s.io/kubernetes/pkg/util/parsers,
// github.com/distribution/reference.

/** Maximum length of a repository's path. */
const maxPath = 255
const domainPart = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/
const addressV6 = /^\[[a-fA-F0-9:]+\]$/
const pathPattern = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/
const tagPattern = /^\w[\w.-]{0,127}$/
const digestPattern = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/
/** A bare identifier is not a repository name. */
const identifier = /^[a-f0-9]{64}$/

/** The tag, "latest" if there is neither tag nor digest; "" for an invalid reference. */
function imageTag(image: string): string {
  const { domain, remainder } = splitDomain(image)
  const [named = "", digest, ...moreDigests] = remainder.split("@", 3)
  const [path = "", tag, ...moreTags] = named.split(":", 3)
  const isReference =
    !identifier.test(image) &&
    moreDigests.length + moreTags.length === 0 &&
    (domain === undefined || isDomain(domain)) &&
    path.length <= maxPath &&
    path.split("/").every((part) => pathPattern.test(part)) &&
    (tag === undefined || tagPattern.test(tag)) &&
    (digest === undefined || digestPattern.test(digest))
  if (!isReference) return ""
  return tag ?? (digest === undefined ? "latest" : "")
}

/** The part before the first slash belongs to the path unless it looks like a host. */
function splitDomain(image: string): { domain: string | undefined; remainder: string } {
  const slash = image.indexOf("/")
  if (slash < 0) return { domain: undefined, remainder: `library/${image}` }
  const first = image.slice(0, slash)
  const isHost = first === "localhost" || /[.:]/.test(first) || first.toLowerCase() !== first
  return isHost ? { domain: first, remainder: image.slice(slash + 1) } : { domain: undefined, remainder: image }
}

function isDomain(domain: string): boolean {
  const host = domain.replace(/:[0-9]+$/, "")
  return addressV6.test(host) || host.split(".").every((part) => domainPart.test(part))
}

export function defaultPullPolicy(image: string): string {
  return imageTag(image) === "latest" ? "Always" : "IfNotPresent"
}
