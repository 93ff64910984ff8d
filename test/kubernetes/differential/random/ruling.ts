/** What other requests of a server depend on: changed in dry runs alone. */
export const ruling: ReadonlySet<string> = new Set([
  "apiservices",
  "customresourcedefinitions",
  "flowschemas",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "mutatingwebhookconfigurations",
  "namespaces",
  "prioritylevelconfigurations",
  "servicecidrs",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "validatingwebhookconfigurations",
])
