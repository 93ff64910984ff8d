// What random expressions are made of: values of each type, and texts for functions that read texts.

export const quoted = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`

const ips = [
  "10.0.0.1",
  "::1",
  "fd00::1",
  "127.0.0.1",
  "224.0.0.1",
  "::ffff:1.2.3.4",
  "1.2.3",
  "fe80::1%25a",
  "10.0.0.01",
  "0.0.0.0",
]
const cidrs = ["10.0.0.0/8", "10.1.2.3/24", "::/0", "fd00::/64", "10.0.0.0/33", "10.0.0.0"]
const quantities = ["1", "1Gi", "100m", "1.5", "-3k", "1e3", "0.1", "lots", "20000000000000000000", "1E", "1Ki"]
const versions = ["1.2.3", "1.2.3-a.1", "v1.2", "1.2", "1.2.3+b", "01.2.3", "1.10.0-rc"]
const urls = [
  "https://u:p@example.com:8080/p%20q/ü?a=b&a=c&d#f",
  "/abs",
  "mailto:x",
  "http://[::1]:80/",
  "x y",
  "//host/p",
  "http://a?x=%zz",
]
const patterns = ["[a-z]+", "^a.*", "(a)(b)?", "\\d{2}", "(", "a|b", "ü", "", "(?i)ABC", "."]
const times = [
  "2024-02-29T23:59:59.5Z",
  "2024-01-02T03:04:05+02:00",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "x",
  "2024-1-2T03:04:05Z",
]
const zones = ["UTC", "Europe/Berlin", "-03:30", "America/St_Johns", "Bogus/Zone", "+00:00"]
const durations = ["1h30m", "-1.5s", "0", "1d", "1ms", "300000h", "9223372036s"]
const formats = ["dns1123Label", "uri", "date", "bogus", "byte"]
const verbs = ["%s", "%d %s", "%.3f", "%x", "%X", "%o", "%b", "%e", "%%", "%s-%s", "%q", "%"]

/** Texts that a function can read, and a few that it cannot. */
export const hints: Readonly<Record<string, readonly string[]>> = {
  ip: ips,
  isIP: ips,
  "ip.isCanonical": ips,
  cidr: cidrs,
  isCIDR: cidrs,
  containsIP: ips,
  containsCIDR: cidrs,
  quantity: quantities,
  isQuantity: quantities,
  semver: versions,
  isSemver: versions,
  url: urls,
  isURL: urls,
  timestamp: times,
  duration: durations,
  "format.named": formats,
  validate: ["a", "A_b", "2024-01-02", "https://x", "-a", "", "x".repeat(64), "aGk="],
  format: verbs,
  int: ["1", "-7", "1.5", "0x1", "9223372036854775808", " 1"],
  uint: ["1", "-1", "18446744073709551615"],
  double: ["1.5", "NaN", "-Infinity", "1e400", "x", "1_0", "0x1p4"],
  bool: ["true", "T", "1", "False", "yes"],
  getHours: zones,
  getDate: zones,
  getFullYear: zones,
  getDayOfWeek: zones,
  getMonth: zones,
  matches: ["a", "abc", "ABC", "12", "ü", ...patterns],
  find: ["a1b22", ...patterns],
  findAll: ["a1b22", ...patterns],
}

export const atoms: Readonly<Record<string, readonly string[]>> = {
  int: ["0", "1", "-1", "2", "7", "100", "9223372036854775807", "size(object.metadata.name)", "int(object.data.n)"],
  uint: ["0u", "1u", "3u", "18446744073709551615u"],
  double: ["0.0", "1.5", "-2.5e10", "1e300", "0.1", "double('NaN')", "-0.0", "123456789.0", "1e21"],
  bool: ["true", "false", "has(object.data.s)", "'s' in object.data", "has(object.data.absent)"],
  bytes: ["b'a'", "b'\\xff'", "b'\\303\\274'", "b''"],
  string: [
    ...["a", "Abc", "", "1", "a,b,c", "ü€\u{1f600}", "  a b ", 'it\'s "q" \\', "a\nb", "-7", "x".repeat(30)].map(
      quoted,
    ),
    "object.data.s",
    "object.data.t",
    "object.metadata.name",
    "request.operation",
    "request.kind.kind",
    "object.data.absent",
  ],
  duration: durations.slice(0, 3).map((text) => `duration('${text}')`),
  timestamp: times.slice(0, 4).map((text) => `timestamp('${text}')`),
  "net.IP": ips.slice(0, 6).map((text) => `ip('${text}')`),
  "net.CIDR": cidrs.slice(0, 4).map((text) => `cidr('${text}')`),
  "kubernetes.Quantity": quantities.slice(0, 7).map((text) => `quantity('${text}')`),
  "kubernetes.Semver": versions.slice(0, 2).map((text) => `semver('${text}')`),
  "kubernetes.URL": urls.slice(0, 4).map((text) => `url('${text}')`),
  "kubernetes.NamedFormat": ["format.dns1123Label()", "format.uri()", "format.datetime()"],
  "kubernetes.authorization.Authorizer": ["authorizer", "authorizer.serviceAccount('default', 'default')"],
  "kubernetes.authorization.GroupCheck": ["authorizer.group('apps')"],
  "kubernetes.authorization.ResourceCheck": ["authorizer.group('').resource('pods')"],
  "kubernetes.authorization.PathCheck": ["authorizer.path('/healthz')"],
  "kubernetes.authorization.Decision": ["authorizer.path('/healthz').check('get')"],
  dyn: ["dyn(1)", "dyn('a')", "object.data.s", "object.data", "object.metadata.labels", "null", "[1, 'a']"],
}
