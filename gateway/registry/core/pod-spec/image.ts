// Image references as far as defaults need them. Source: k8s.io/kubernetes/pkg/util/parsers.

/** The tag, "latest" when there is neither tag nor digest. */
function imageTag(image: string): string {
  // What is no reference has no tag.
  if (!/^[a-zA-Z0-9][\w.:/@-]*$/.test(image)) return ""
  const [name = "", digest] = image.split("@", 2)
  const tail = name.slice(name.lastIndexOf("/") + 1)
  const colon = tail.indexOf(":")
  if (colon >= 0) return tail.slice(colon + 1)
  return digest === undefined ? "latest" : ""
}

export function defaultPullPolicy(image: string): string {
  return imageTag(image) === "latest" ? "Always" : "IfNotPresent"
}
