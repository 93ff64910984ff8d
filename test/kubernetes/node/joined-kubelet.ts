// A kubelet on a spare machine of a cluster of real nodes that joins another API server, as the kubelets of kubeadm do: with a token it
// requests a client certificate, and with that a serving certificate (kubelet TLS bootstrapping).

import { mkdir, open, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { stringify } from "yaml"
import type { CertificateSigningRequest, ConfigMap } from "../../../apimachinery/object.ts"
import { connectCluster } from "../../../cli/compose/cluster.ts"
import { loadKubeconfig } from "../../../client/credentials/kubeconfig.ts"
import { certificateSigningRequests, configMaps } from "../../../client/resources.ts"
import { eventually } from "../../harness/eventually.ts"
import { start } from "../../harness/processes.ts"
import { kubeletConfiguration } from "./configuration.ts"
import { nodeName } from "./layout.ts"
import type { RealKubernetes } from "./real-kubernetes.ts"

interface Joining {
  /** The machine's number, after those of the cluster's nodes. */
  machine: number
  /** The name of its Node. */
  node: string
  /** Of an administrator of the API server that it joins. */
  kubeconfig: string
  /** Runs kubectl as that administrator, and returns its output. */
  kubectl: (...args: string[]) => Promise<string>
}

/** Cluster roles that the kubelet TLS bootstrapping guide of Kubernetes grants, and to whom. */
const roles = [
  ["system:node-bootstrapper", "--serviceaccount=default:joining"],
  ["system:certificates.k8s.io:certificatesigningrequests:nodeclient", "--serviceaccount=default:joining"],
  ["system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "--group=system:nodes"],
] as const

/** Resolves when its Node is ready and it has both certificates; it ends with the cluster. */
export async function joinKubelet(kubernetes: RealKubernetes, joining: Joining): Promise<void> {
  const { node, kubeconfig, kubectl } = joining
  await kubectl("create", "serviceaccount", "joining")
  for (const [role, to] of roles)
    await kubectl("create", "clusterrolebinding", role.split(":").at(-1) ?? "", `--clusterrole=${role}`, to)
  await using client = await connectCluster(kubeconfig)
  const authorities = await client.get<ConfigMap>(configMaps, "kube-system", "extension-apiserver-authentication")
  const { server, certificateAuthority = "" } = await loadKubeconfig(kubeconfig)
  await startKubelet(kubernetes, joining, {
    server,
    certificateAuthority,
    clientAuthority: authorities.data?.["client-ca-file"] ?? "",
    token: (await kubectl("create", "token", "joining")).trim(),
  })
  await kubectl("wait", "--for=create", `node/${node}`, "--timeout=60s")
  await kubectl("wait", "--for=condition=Ready", `node/${node}`, "--timeout=60s")
  // No controller approves serving certificates.
  const request = await eventually(async () => {
    const all = (await client.list<CertificateSigningRequest>(certificateSigningRequests)).items
    return all.find(({ spec }) => spec.signerName === "kubernetes.io/kubelet-serving")?.metadata.name
  })
  await kubectl("certificate", "approve", request)
  await kubectl("wait", "--for=jsonpath={.status.certificate}", `csr/${request}`, "--timeout=60s")
}

interface Credentials {
  server: string
  /** PEM, of the server's certificate. */
  certificateAuthority: string
  /** PEM, of the certificates of the kubelet's own clients. */
  clientAuthority: string
  /** Of an identity that may request certificates for nodes. */
  token: string
}

/** Its log is node<N>/logs/kubelet.log. */
async function startKubelet(
  kubernetes: RealKubernetes,
  { machine, node }: Joining,
  { server, certificateAuthority, clientAuthority, token }: Credentials,
): Promise<void> {
  const directory = path.join(kubernetes.directory, nodeName(machine))
  const inNode = "/mnt/joined"
  const files = {
    "ca.crt": certificateAuthority,
    "client-ca.crt": clientAuthority,
    "bootstrap.kubeconfig": stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "joined", cluster: { server, "certificate-authority": `${inNode}/ca.crt` } }],
      users: [{ name: "joined", user: { token } }],
      contexts: [{ name: "joined", context: { cluster: "joined", user: "joined" } }],
      "current-context": "joined",
    }),
    "kubelet.yaml": stringify(configuration(`${inNode}/client-ca.crt`)),
  }
  await mkdir(path.join(directory, "joined"))
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(directory, "joined", name), content, { mode: 0o600 })
  const flags = [
    `--config=${inNode}/kubelet.yaml`,
    `--bootstrap-kubeconfig=${inNode}/bootstrap.kubeconfig`,
    `--kubeconfig=${inNode}/kubelet.kubeconfig`,
    `--hostname-override=${node}`,
    `--node-ip=${kubernetes.nodeAddress(machine)}`,
    "--v=2",
  ]
  const pid = (await readFile(path.join(directory, "pid"), "utf8")).trim()
  const log = await open(path.join(directory, "logs", "kubelet.log"), "a")
  const script = ["bash", "-c", 'until ctr version >/dev/null; do sleep 0.1; done; exec kubelet "$@"', "kubelet"]
  start("nsenter", ["--target", pid, "--all", "--wd=/", ...script, ...flags], {
    env: { ...process.env, PATH: `/usr/local/bin:${process.env["PATH"] ?? ""}` },
    stdio: ["ignore", log.fd, log.fd],
  })
  await log.close()
}

function configuration(clientCAFile: string): unknown {
  const { tlsCertFile: _certificate, tlsPrivateKeyFile: _key, authentication, ...others } = kubeletConfiguration
  return {
    ...others,
    authentication: { ...authentication, x509: { clientCAFile } },
    rotateCertificates: true,
    serverTLSBootstrap: true,
  }
}
