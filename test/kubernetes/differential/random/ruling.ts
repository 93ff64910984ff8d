/** What other requests of a server depend on, one default of all among it: changed in dry runs alone. */
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
