/** Resources that affect other requests to the server, including a default: changed only in dry runs. */
export const ruling: ReadonlySet<string> = new Set([
  "apiservices",
  "customresourcedefinitions",
  "flowschemas",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "mutatingwebhookconfigurations",
  "namespaces",
  "priorityclasses",
  "prioritylevelconfigurations",
  "servicecidrs",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "validatingwebhookconfigurations",
])
