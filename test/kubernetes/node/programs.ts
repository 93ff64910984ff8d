// The programs of a node with all flags, in the order in which they start. Printed as a shell script that node.sh includes.

import { apiPort, nodeName, ranges, type Network } from "./layout.ts"

type Flags = Record<string, string | number | true>

interface Program {
  name: string
  flags: Flags
  /** Commands that must succeed before the program starts. */
  after?: readonly string[][]
}

const etcdUrl = "http://127.0.0.1:2379"
const serviceAccountIssuer = "https://kubernetes.default.svc.cluster.local"

/** The script of node `number`; the first node runs the control plane, a spare one only containerd. */
export function programsScript(number: number, network: Network, isSpare: boolean): string {
  const ofNode = isSpare ? [] : [kubelet(nodeName(number), network.node(number)), kubeProxy(nodeName(number))]
  const programs = [containerd, ...(number === 1 ? controlPlane(network) : []), ...ofNode]
  return programs.map(print).join("")
}

const containerd: Program = { name: "containerd", flags: { config: "containerd.toml" } }

function kubelet(node: string, address: string): Program {
  return {
    name: "kubelet",
    flags: {
      config: "kubelet.yaml",
      kubeconfig: "kubelet.kubeconfig",
      "hostname-override": node,
      "node-ip": address,
      v: 2,
    },
    // The kubelet queries its runtime only once, and the socket exists before containerd responds.
    after: [["ctr", "version"]],
  }
}

function kubeProxy(node: string): Program {
  return { name: "kube-proxy", flags: { config: "kube-proxy.yaml", "hostname-override": node, v: 2 } }
}

function controlPlane(network: Network): Program[] {
  const address = network.node(1)
  // Both exit if the API server takes long to respond to their first requests.
  const after = [
    [
      "curl",
      "--fail",
      "--silent",
      "--cacert",
      "ca.crt",
      "--cert",
      "kubelet-client.crt",
      "--key",
      "kubelet-client.key",
      `https://${address}:${apiPort}/readyz`,
    ],
  ]
  return [
    {
      name: "etcd",
      flags: {
        "data-dir": "/var/lib/etcd",
        "listen-client-urls": etcdUrl,
        "advertise-client-urls": etcdUrl,
        "listen-peer-urls": "http://127.0.0.1:2380",
        // The cluster does not outlive the machine.
        "unsafe-no-fsync": true,
      },
    },
    {
      name: "kube-apiserver",
      flags: {
        "etcd-servers": etcdUrl,
        "bind-address": "0.0.0.0",
        "advertise-address": address,
        "secure-port": apiPort,
        "tls-cert-file": "apiserver.crt",
        "tls-private-key-file": "apiserver.key",
        "client-ca-file": "ca.crt",
        "allow-privileged": true,
        "service-cluster-ip-range": ranges.services,
        "service-account-issuer": serviceAccountIssuer,
        "service-account-key-file": "service-account.key",
        "service-account-signing-key-file": "service-account.key",
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        // For logs and exec.
        "kubelet-client-certificate": "kubelet-client.crt",
        "kubelet-client-key": "kubelet-client.key",
        "kubelet-certificate-authority": "ca.crt",
        "kubelet-preferred-address-types": "InternalIP",
        // For aggregated APIs.
        "requestheader-client-ca-file": "front-proxy-ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": "front-proxy-client.crt",
        "proxy-client-key-file": "front-proxy-client.key",
      },
    },
    {
      name: "kube-controller-manager",
      flags: {
        ...ofTheCluster("kube-controller-manager"),
        "use-service-account-credentials": true,
        "service-account-private-key-file": "service-account.key",
        "root-ca-file": "ca.crt",
        "cluster-signing-cert-file": "ca.crt",
        "cluster-signing-key-file": "ca.key",
      },
      after,
    },
    { name: "kube-scheduler", flags: ofTheCluster("kube-scheduler"), after },
  ]
}

function ofTheCluster(name: string): Flags {
  const file = `${name}.kubeconfig`
  return {
    kubeconfig: file,
    "authentication-kubeconfig": file,
    "authorization-kubeconfig": file,
    // There is only one instance.
    "leader-elect": "false",
  }
}

/** In the background as a whole, so that a waiting program does not delay the next. */
function print({ name, flags, after = [] }: Program): string {
  const command = [name, ...Object.entries(flags).map(([flag, value]) => printFlag(flag, value))]
  const waits = after.map((words) => `  until_succeeds ${words.map(quote).join(" ")}\n`).join("")
  return `{\n${waits}  keep_running ${name} ${command.map(quote).join(" ")}\n} &\n`
}

const printFlag = (name: string, value: string | number | true): string =>
  value === true ? `--${name}` : `--${name}=${value}`

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
